/* timelake_http.h - the requests of timelake.h as HTTP messages, for any HTTP stack: pure functions, no sockets.

   Include timelake.h first; define TIMELAKE_HTTP_IMPLEMENTATION in one file. Needs the C library, nothing else.

       tl_http_store store;
       tl_http_init(&store, TL_HTTP_S3);
       store.region = "eu-central-1";
       tl_http_environment(&store);                            // AWS_ACCESS_KEY_ID, ... (optional)

       outcome = tl_http_make(&store, &request, now, &call);   // method, URL, headers, signed
       if (outcome != TL_OUTCOME_OK) complete with that        // nothing to send: call.text says why
       ... send call.method, call.url, call.headers and the request's body ...
       tl_http_read(&store, &request, &response, &answer);     // status, headers and body as a completion
       tl_complete(op, &answer.completion, now);
       tl_http_answer_free(&answer);
       tl_http_call_free(&call);

   Dialects: S3 (AWS, MinIO, Ceph, R2, Tigris, SeaweedFS, ...), Azure Blob, Google Cloud Storage (its XML API), and
   plain HTTP(S), which is read only and cannot list. Keys are literal text, `s3://bucket/name`, `az://container/name`,
   `abfss://container@account.host/name`, `gs://bucket/name`, `https://host/path`; they are percent-encoded here.

   What the transport has to keep: send writes once (libcurl sends a PUT anew by itself when a kept connection dies:
   adapters/timelake_curl.h shows how to stop it), follow no redirect of a write, tell a lost answer by status 0, and
   set response.retried when it did send a write again.

   Outcomes: a conditional write is OK only by a status that says so. 412, S3's 404 to If-Match, Azure's 409
   BlobAlreadyExists are the condition; S3's 409 ConditionalRequestConflict decides nothing: a create may be sent again,
   an update is as a changed object. 500, 502, 503, 504 and a lost answer of a write are unknown. After an attempt that
   was lost, everything but a success is unknown. Whether a store ignores conditions only a probe can tell. */
#ifndef TIMELAKE_HTTP_H
#define TIMELAKE_HTTP_H

typedef enum tl_http_dialect {
    TL_HTTP_BY_SCHEME, /* of the key: s3, s3a; az, azure, abfs, abfss; gs; http, https */
    TL_HTTP_S3,
    TL_HTTP_AZURE,
    TL_HTTP_GCS,
    TL_HTTP_PLAIN
} tl_http_dialect;

/* A store and who we are to it. All texts are borrowed; NULL: not set. Zeroed it is valid: anonymous. */
typedef struct tl_http_store {
    tl_http_dialect dialect;
    const char *endpoint;       /* https://host[:port][/path]; NULL: the cloud's own. The bucket is appended */
    const char *region;         /* S3; NULL: us-east-1 */
    const char *access_key;     /* S3; GCS: an HMAC key */
    const char *secret_key;
    const char *session_token;  /* S3 */
    const char *account;        /* Azure; with credentials abfss:// keys of another account are refused */
    const char *account_key;    /* Azure: base64 */
    const char *sas;            /* Azure: a query string, percent-encoded as it was given */
    const char *bearer;         /* an OAuth token: Azure, GCS; plain: it goes to the host of `endpoint` alone */
    int virtual_hosted;         /* S3: the bucket is part of the host; `endpoint` begins with it and is its alone */
    int skip_signature;         /* 1: anonymous, whatever credentials there are */
    int unsigned_payload;       /* S3: the body is not part of the signature */
    int allow_http;             /* 1: credentials may go over http:// to hosts that are not this one */
    int plain_writes;           /* plain HTTP: PUT and DELETE too; conditions are sent, and often ignored */
    int request_payer;          /* S3: requester pays */
    int64_t skew_ms;            /* the store's clock minus ours: added to `now` in signatures */
    char *owned;                /* private: texts of a credentials file */
} tl_http_store;

typedef struct tl_http_header {
    const char *name; /* lower case */
    const char *value;
} tl_http_header;

#define TL_HTTP_HEADERS 20

/* What to send. The body is the request's. tl_http_call_free after that. */
typedef struct tl_http_call {
    const char *method;
    const char *url; /* absolute, percent-encoded: to be sent as it is */
    const char *host;
    tl_http_header headers[TL_HTTP_HEADERS]; /* without Host; Content-Length is there for every PUT */
    size_t header_count;
    const char *text; /* why there is nothing to send */
    char *memory;     /* private */
} tl_http_call;

/* What came back. */
typedef struct tl_http_response {
    int status;   /* 0: no whole answer */
    int sent;     /* with status 0: 1 when the store may have got the request */
    int retried;  /* an earlier attempt of this write may have got through, unanswered */
    tl_span head; /* the header lines of the last answer, with or without its status line */
    tl_span body; /* whole, and not chunked any more */
    int64_t now;  /* Unix milliseconds */
} tl_http_response;

/* What it means. The completion points into the response and into this. */
typedef struct tl_http_answer {
    tl_completion completion;
    int64_t skew_ms;  /* the store's clock minus ours; INT64_MIN: not told */
    int skewed;       /* refused because of the clock: put skew_ms into the store and send it anew */
    char code[64];    /* the store's error code: "NoSuchKey" */
    char region[40];  /* where the bucket is, when the answer says so */
    char text[256];
    tl_entry *entries; /* private */
    char *names;
    char etag[32];
} tl_http_answer;

/* A store with nothing set but the dialect; and what it owns given back. */
TL_API void tl_http_init(tl_http_store *store, tl_http_dialect dialect);
TL_API void tl_http_close(tl_http_store *store);

/* The dialect of a URL's scheme; TL_HTTP_BY_SCHEME when it is none of ours. */
TL_API tl_http_dialect tl_http_scheme(tl_span url);

/* Sets what Timelake's storage option (the names of the Rust crate object_store) means: aws_access_key_id,
   azure_storage_account_name, google_base_url, ... Value borrowed. 1 done, 0 no such option, -1 not supported here or
   not a value of it. */
TL_API int tl_http_option(tl_http_store *store, const char *name, const char *value);

/* The same from the environment: AWS_..., AZURE_..., GOOGLE_... of the store's dialect, where not set yet. */
TL_API void tl_http_environment(tl_http_store *store);

/* S3 keys from AWS's shared credentials file, where no key is set: $AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials,
   section $AWS_PROFILE or default. 1 when found. tl_http_profile does the same with the file's text. */
TL_API int tl_http_credentials_file(tl_http_store *store);
TL_API int tl_http_profile(tl_http_store *store, tl_span text, const char *profile);

/* A request as a message, signed when there are credentials. TL_OUTCOME_OK, or the outcome to complete the request
   with: UNSUPPORTED, or FAILED (a key that cannot be sent, a weak ETag in a condition, no memory). */
TL_API tl_outcome tl_http_make(const tl_http_store *store, const tl_request *request, int64_t now, tl_http_call *call);

/* S3 and GCS with HMAC keys: the request with its signature in the query, good for `seconds`. Headers that the sender
   must add are in the call. */
TL_API tl_outcome tl_http_presign(const tl_http_store *store, const tl_request *request, int64_t now, uint32_t seconds,
                                  tl_http_call *call);
TL_API void tl_http_call_free(tl_http_call *call);

/* Azure: the query of a service SAS for a container (`name` absent) or blob; permissions as "r", "rl", "rcwdl"; the
   caller frees it with free(). NULL: no memory, or account_key is not base64. */
TL_API char *tl_http_azure_sas(const tl_http_store *store, tl_span container, tl_span name, const char *permissions,
                               int64_t expires);

/* A response as a completion. Never fails: what cannot be understood is an outcome. */
TL_API void tl_http_read(const tl_http_store *store, const tl_request *request, const tl_http_response *response,
                         tl_http_answer *answer);
TL_API void tl_http_answer_free(tl_http_answer *answer);

/* The most body bytes to keep of a good answer: of an object what the request accepts, of a listing 32 MiB (a page of
   S3 has up to 4, of Azure up to 17); more: stop receiving, it failed. What puts, deletes and failures bring is a word
   for people: 64 KiB are kept, the rest is thrown away, and nothing fails of it. */
TL_API uint64_t tl_http_most(const tl_request *request);
#define TL_HTTP_LISTING (UINT64_C(32) << 20)
#define TL_HTTP_SAID 65536

/* The value of a header line, without white space around it; absent when there is none. Names without case. */
TL_API tl_span tl_http_header_value(tl_span head, const char *name);
#endif /* TIMELAKE_HTTP_H */

#if defined(TIMELAKE_HTTP_IMPLEMENTATION) && !defined(TIMELAKE_HTTP_IMPLEMENTATION_DONE)
#define TIMELAKE_HTTP_IMPLEMENTATION_DONE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TL_HTTP_AZURE_VERSION "2021-12-02"
#define TL_HTTP_SHA 32
#define TL_HTTP_RETRY 100 /* ms, where the store names no delay */
#define TL_HTTP_RETRY_MOST 120000

/* ---- text ---- */

static tl_span tl_http_span(const char *data, size_t size)
{
    tl_span s;
    s.data = data;
    s.size = size;
    return s;
}

static tl_span tl_http_from(tl_span s, size_t skip)
{
    return tl_http_span(s.data + skip, s.size - skip);
}

static int tl_http_is(tl_span s, const char *text)
{
    return s.data != NULL && s.size == strlen(text) && memcmp(s.data, text, s.size) == 0;
}

static int tl_http_begins(tl_span s, const char *text)
{
    size_t n = strlen(text);
    return s.size >= n && memcmp(s.data, text, n) == 0;
}

static char tl_http_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int tl_http_same(tl_span s, const char *text)
{
    size_t i;
    for (i = 0; i < s.size && text[i] != 0; i++)
        if (tl_http_lower(s.data[i]) != tl_http_lower(text[i]))
            return 0;
    return i == s.size && text[i] == 0;
}

static int tl_http_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static tl_span tl_http_trim(tl_span s)
{
    while (s.size != 0 && tl_http_blank(s.data[0]))
        s = tl_http_from(s, 1);
    while (s.size != 0 && tl_http_blank(s.data[s.size - 1]))
        s.size--;
    return s;
}

static int tl_http_number(tl_span s, uint64_t *value)
{
    size_t i;
    *value = 0;
    for (i = 0; i < s.size; i++) {
        uint64_t digit = (uint64_t)(uint8_t)s.data[i] - '0';
        if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
            return 0;
        *value = *value * 10 + digit;
    }
    return s.size != 0;
}

/* Growing text; once out of memory it stays so. */
typedef struct tl_http_text {
    char *data;
    size_t size, capacity;
    int failed;
} tl_http_text;

static void tl_http_add(tl_http_text *t, const char *data, size_t size)
{
    if (t->failed)
        return;
    if (size >= t->capacity - t->size) {
        size_t more = t->capacity * 2 + size + 256;
        char *grown = more > size ? (char *)realloc(t->data, more) : NULL;
        if (grown == NULL) {
            t->failed = 1;
            return;
        }
        t->data = grown;
        t->capacity = more;
    }
    if (size != 0)
        memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
}

static void tl_http_say(tl_http_text *t, const char *text)
{
    tl_http_add(t, text, strlen(text));
}

/* Percent-encoding as SigV4 wants it: unreserved characters stay, and in paths the slash. */
static void tl_http_encode(tl_http_text *t, tl_span s, int path)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t i;
    for (i = 0; i < s.size; i++) {
        uint8_t c = (uint8_t)s.data[i];
        char code[3];
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'
            || c == '_' || c == '~' || (path && c == '/')) {
            tl_http_add(t, s.data + i, 1);
            continue;
        }
        code[0] = '%';
        code[1] = hex[c >> 4];
        code[2] = hex[c & 15];
        tl_http_add(t, code, 3);
    }
}

static int tl_http_hex(char c)
{
    c = c >= 'A' && c <= 'F' ? tl_http_lower(c) : c;
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decoding in place; the new size, or (size_t)-1 for a broken code. */
static size_t tl_http_decode(char *data, size_t size, int plus)
{
    size_t i, n = 0;
    for (i = 0; i < size; i++) {
        if (data[i] == '%') {
            int high = i + 2 < size ? tl_http_hex(data[i + 1]) : -1, low = i + 2 < size ? tl_http_hex(data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return (size_t)-1;
            data[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            data[n++] = data[i] == '+' && plus ? ' ' : data[i];
        }
    }
    return n;
}

/* Well-formed UTF-8 without NUL: what a key must be. */
static int tl_http_utf8(tl_span s)
{
    size_t i = 0, k, more;
    while (i < s.size) {
        uint32_t c = (uint8_t)s.data[i++], least;
        more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 4;
        if (c == 0 || more == 4 || s.size - i < more)
            return 0;
        least = more == 2 ? 0x800 : more == 3 ? 0x10000 : 0;
        c = more == 0 ? c : c & (0x3Fu >> more);
        for (k = 0; k < more; k++, i++) {
            if (((uint8_t)s.data[i] & 0xC0) != 0x80)
                return 0;
            c = c << 6 | ((uint8_t)s.data[i] & 0x3F);
        }
        if (c < least || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF)
            return 0;
    }
    return 1;
}

/* ---- SHA-256 and HMAC (FIPS 180-4, RFC 2104), base64 ---- */

typedef struct tl_http_sha {
    uint32_t h[8];
    uint64_t bytes;
    uint8_t block[64];
} tl_http_sha;

static const uint32_t tl_http_sha_k[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

static uint32_t tl_http_turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void tl_http_sha_block(uint32_t *h, const uint8_t *p)
{
    uint32_t w[64], s[8], a, b;
    int i;
    for (i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (; i < 64; i++) {
        a = tl_http_turn(w[i - 15], 7) ^ tl_http_turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        b = tl_http_turn(w[i - 2], 17) ^ tl_http_turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, h, sizeof s);
    for (i = 0; i < 64; i++) {
        a = s[7] + (tl_http_turn(s[4], 6) ^ tl_http_turn(s[4], 11) ^ tl_http_turn(s[4], 25))
            + ((s[4] & s[5]) ^ (~s[4] & s[6])) + tl_http_sha_k[i] + w[i];
        b = (tl_http_turn(s[0], 2) ^ tl_http_turn(s[0], 13) ^ tl_http_turn(s[0], 22))
            + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += a;
        s[0] = a + b;
    }
    for (i = 0; i < 8; i++)
        h[i] += s[i];
}

static void tl_http_sha_begin(tl_http_sha *sha)
{
    static const uint32_t first[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    memcpy(sha->h, first, sizeof first);
    sha->bytes = 0;
}

static void tl_http_sha_add(tl_http_sha *sha, const void *data, size_t size)
{
    const uint8_t *p = (const uint8_t *)data;
    size_t held = (size_t)(sha->bytes % 64), n;
    sha->bytes += size;
    while (size != 0) {
        if (held == 0 && size >= 64) {
            tl_http_sha_block(sha->h, p);
            n = 64;
        } else {
            n = size < 64 - held ? size : 64 - held;
            memcpy(sha->block + held, p, n);
            held = (held + n) % 64;
            if (held == 0)
                tl_http_sha_block(sha->h, sha->block);
        }
        p += n;
        size -= n;
    }
}

static void tl_http_sha_end(tl_http_sha *sha, uint8_t *out)
{
    static const uint8_t pad[64] = {0x80};
    uint8_t length[8];
    uint64_t bits = sha->bytes * 8;
    int i;
    tl_http_sha_add(sha, pad, (size_t)(64 - (sha->bytes + 8) % 64));
    for (i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    tl_http_sha_add(sha, length, 8);
    for (i = 0; i < TL_HTTP_SHA; i++)
        out[i] = (uint8_t)(sha->h[i / 4] >> (24 - 8 * (i % 4)));
}

static void tl_http_hmac(const void *key, size_t key_size, const void *data, size_t size, uint8_t *out)
{
    uint8_t pad[64], inner[TL_HTTP_SHA];
    tl_http_sha sha;
    size_t i;
    memset(pad, 0, sizeof pad);
    if (key_size > sizeof pad) {
        tl_http_sha_begin(&sha);
        tl_http_sha_add(&sha, key, key_size);
        tl_http_sha_end(&sha, pad);
    } else if (key_size != 0) {
        memcpy(pad, key, key_size);
    }
    for (i = 0; i < sizeof pad; i++)
        pad[i] ^= 0x36;
    tl_http_sha_begin(&sha);
    tl_http_sha_add(&sha, pad, sizeof pad);
    tl_http_sha_add(&sha, data, size);
    tl_http_sha_end(&sha, inner);
    for (i = 0; i < sizeof pad; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    tl_http_sha_begin(&sha);
    tl_http_sha_add(&sha, pad, sizeof pad);
    tl_http_sha_add(&sha, inner, sizeof inner);
    tl_http_sha_end(&sha, out);
}

static void tl_http_to_hex(const uint8_t *data, size_t size, char *out)
{
    static const char hex[] = "0123456789abcdef";
    size_t i;
    for (i = 0; i < size; i++) {
        out[2 * i] = hex[data[i] >> 4];
        out[2 * i + 1] = hex[data[i] & 15];
    }
    out[2 * size] = 0;
}

static const char tl_http_base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Of the 32 bytes of a signature: 44 characters and a zero. */
static void tl_http_to_base64(const uint8_t *data, char *out)
{
    size_t i;
    for (i = 0; i < TL_HTTP_SHA; i += 3) {
        size_t left = TL_HTTP_SHA - i;
        uint32_t v = (uint32_t)data[i] << 16;
        v |= (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0u);
        *out++ = tl_http_base64[v >> 18];
        *out++ = tl_http_base64[v >> 12 & 63];
        *out++ = left > 1 ? tl_http_base64[v >> 6 & 63] : '=';
        *out++ = left > 2 ? tl_http_base64[v & 63] : '=';
    }
    *out = 0;
}

/* How many bytes, or (size_t)-1. */
static size_t tl_http_from_base64(const char *text, uint8_t *out, size_t most)
{
    uint32_t v = 0;
    size_t n = 0, bits = 0;
    for (; *text != 0 && *text != '='; text++) {
        const char *at = strchr(tl_http_base64, *text);
        if (at == NULL)
            return (size_t)-1;
        v = v << 6 | (uint32_t)(at - tl_http_base64);
        bits += 6;
        if (bits >= 8) {
            if (n == most)
                return (size_t)-1;
            bits -= 8;
            out[n++] = (uint8_t)(v >> bits);
        }
    }
    return n;
}

/* ---- time ---- */

typedef struct tl_http_time {
    int year, month, day, hour, minute, second, weekday;
} tl_http_time;

static const char tl_http_months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* The civil calendar, from days since 1970 (years 1 to 9999). */
static tl_http_time tl_http_civil(int64_t ms)
{
    tl_http_time t;
    int64_t seconds = ms / 1000, days, era, year;
    int rest, yday, m;
    seconds = seconds < 0 ? 0 : seconds > INT64_C(253402300799) ? INT64_C(253402300799) : seconds;
    days = seconds / 86400;
    rest = (int)(seconds % 86400);
    t.hour = rest / 3600;
    t.minute = rest / 60 % 60;
    t.second = rest % 60;
    t.weekday = (int)((days + 4) % 7); /* 1970 began on a Thursday */
    days += 719468;                    /* since 0000-03-01 */
    era = days / 146097;
    rest = (int)(days % 146097);
    year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    yday = rest - (int)(365 * year + year / 4 - year / 100);
    m = (5 * yday + 2) / 153;
    t.day = yday - (153 * m + 2) / 5 + 1;
    t.month = m < 10 ? m + 3 : m - 9;
    t.year = (int)(year + era * 400 + (t.month <= 2));
    return t;
}

static int64_t tl_http_days(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    return (int64_t)365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static void tl_http_amz_date(int64_t now, char *out) /* 17 bytes: 20261129T213428Z */
{
    tl_http_time t = tl_http_civil(now);
    char text[96];
    snprintf(text, sizeof text, "%04d%02d%02dT%02d%02d%02dZ", t.year, t.month, t.day, t.hour, t.minute, t.second);
    memcpy(out, text, 16);
    out[16] = 0;
}

static void tl_http_date(int64_t now, char *out) /* 30 bytes: Sun, 29 Nov 2026 21:34:28 GMT */
{
    static const char days[] = "SunMonTueWedThuFriSat";
    tl_http_time t = tl_http_civil(now);
    char text[128];
    snprintf(text, sizeof text, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * t.weekday, t.day,
             tl_http_months + 3 * (t.month - 1), t.year, t.hour, t.minute, t.second);
    memcpy(out, text, 29);
    out[29] = 0;
}

/* `Sun, 29 Nov 2026 21:34:28 GMT` as Unix milliseconds; INT64_MIN when it is anything else. */
static int64_t tl_http_parse_date(tl_span s)
{
    uint64_t day, year, hour, minute, second;
    int month;
    if (s.size != 29 || memcmp(s.data + 25, " GMT", 4) != 0 || !tl_http_number(tl_http_span(s.data + 5, 2), &day)
        || !tl_http_number(tl_http_span(s.data + 12, 4), &year) || !tl_http_number(tl_http_span(s.data + 17, 2), &hour)
        || !tl_http_number(tl_http_span(s.data + 20, 2), &minute)
        || !tl_http_number(tl_http_span(s.data + 23, 2), &second))
        return INT64_MIN;
    for (month = 0; month < 12 && memcmp(tl_http_months + 3 * month, s.data + 8, 3) != 0; month++)
        continue;
    if (month == 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
        return INT64_MIN;
    second += hour * 3600 + minute * 60;
    return (tl_http_days((int)year, month + 1, (int)day) * 86400 + (int64_t)second) * 1000;
}

/* ---- stores, options, credentials ---- */

TL_API void tl_http_init(tl_http_store *store, tl_http_dialect dialect)
{
    memset(store, 0, sizeof *store);
    store->dialect = dialect;
}

TL_API void tl_http_close(tl_http_store *store)
{
    free(store->owned);
    memset(store, 0, sizeof *store);
}

TL_API tl_http_dialect tl_http_scheme(tl_span url)
{
    static const struct {
        const char *scheme;
        tl_http_dialect dialect;
    } schemes[] = {{"s3://", TL_HTTP_S3},        {"s3a://", TL_HTTP_S3},      {"gs://", TL_HTTP_GCS},
                   {"az://", TL_HTTP_AZURE},     {"azure://", TL_HTTP_AZURE}, {"abfs://", TL_HTTP_AZURE},
                   {"abfss://", TL_HTTP_AZURE},  {"http://", TL_HTTP_PLAIN},  {"https://", TL_HTTP_PLAIN}};
    size_t i;
    for (i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (tl_http_begins(url, schemes[i].scheme))
            return schemes[i].dialect;
    return TL_HTTP_BY_SCHEME;
}

typedef enum tl_http_field {
    TL_HTTP_ENDPOINT, TL_HTTP_REGION, TL_HTTP_ACCESS, TL_HTTP_SECRET, TL_HTTP_SESSION, TL_HTTP_ACCOUNT,
    TL_HTTP_ACCOUNT_KEY, TL_HTTP_SAS, TL_HTTP_BEARER, TL_HTTP_VIRTUAL, TL_HTTP_SKIP, TL_HTTP_UNSIGNED, TL_HTTP_INSECURE,
    TL_HTTP_PAYER, TL_HTTP_EMULATOR, TL_HTTP_ETAG, TL_HTTP_IGNORED
} tl_http_field;

typedef struct tl_http_name {
    const char *name;
    tl_http_field field;
} tl_http_name;

/* Those that come first win where an environment has several. Without the prefix they are options too. */
static const tl_http_name tl_http_s3_names[] = {
    {"aws_endpoint_url_s3", TL_HTTP_ENDPOINT}, {"aws_endpoint_url", TL_HTTP_ENDPOINT},
    {"aws_endpoint", TL_HTTP_ENDPOINT}, {"aws_region", TL_HTTP_REGION}, {"aws_default_region", TL_HTTP_REGION},
    {"aws_access_key_id", TL_HTTP_ACCESS},
    {"aws_secret_access_key", TL_HTTP_SECRET}, {"aws_session_token", TL_HTTP_SESSION}, {"aws_token", TL_HTTP_SESSION},
    {"aws_virtual_hosted_style_request", TL_HTTP_VIRTUAL}, {"aws_skip_signature", TL_HTTP_SKIP},
    {"aws_unsigned_payload", TL_HTTP_UNSIGNED}, {"aws_allow_http", TL_HTTP_INSECURE},
    {"aws_request_payer", TL_HTTP_PAYER}, {"aws_conditional_put", TL_HTTP_ETAG}, {NULL, TL_HTTP_IGNORED}};
static const tl_http_name tl_http_azure_names[] = {
    {"azure_storage_use_emulator", TL_HTTP_EMULATOR}, {"azure_storage_endpoint", TL_HTTP_ENDPOINT},
    {"azure_endpoint", TL_HTTP_ENDPOINT}, {"azure_storage_account_name", TL_HTTP_ACCOUNT},
    {"azure_storage_account_key", TL_HTTP_ACCOUNT_KEY}, {"azure_storage_access_key", TL_HTTP_ACCOUNT_KEY},
    {"azure_storage_master_key", TL_HTTP_ACCOUNT_KEY}, {"azure_storage_sas_key", TL_HTTP_SAS},
    {"azure_storage_sas_token", TL_HTTP_SAS}, {"azure_storage_token", TL_HTTP_BEARER},
    {"bearer_token", TL_HTTP_BEARER},
    {"azure_skip_signature", TL_HTTP_SKIP}, {"azure_allow_http", TL_HTTP_INSECURE}, {NULL, TL_HTTP_IGNORED}};
static const tl_http_name tl_http_gcs_names[] = {
    {"google_base_url", TL_HTTP_ENDPOINT}, {"google_bearer_token", TL_HTTP_BEARER},
    {"google_access_key_id", TL_HTTP_ACCESS}, {"google_secret_access_key", TL_HTTP_SECRET},
    {"google_skip_signature", TL_HTTP_SKIP}, {"google_allow_http", TL_HTTP_INSECURE}, {NULL, TL_HTTP_IGNORED}};
static const tl_http_name tl_http_plain_names[] = {{"bearer_token", TL_HTTP_BEARER}, {"allow_http", TL_HTTP_INSECURE},
                                                   {NULL, TL_HTTP_IGNORED}};

static const tl_http_name *tl_http_names(tl_http_dialect dialect)
{
    return dialect == TL_HTTP_S3      ? tl_http_s3_names
           : dialect == TL_HTTP_AZURE ? tl_http_azure_names
           : dialect == TL_HTTP_GCS   ? tl_http_gcs_names
                                      : tl_http_plain_names;
}

/* 1, 0, or -1 for neither. */
static int tl_http_truth(const char *value)
{
    static const char *const words[] = {"0", "1", "false", "true", "off", "on", "no", "yes", "n", "y"};
    size_t i;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        if (tl_http_same(tl_text(value), words[i]))
            return (int)(i % 2);
    return -1;
}

static int tl_http_switch(int *at, const char *value)
{
    int truth = tl_http_truth(value);
    if (truth >= 0)
        *at = truth;
    return truth >= 0 ? 1 : -1;
}

/* Azurite's account, and the key that it publishes. */
static int tl_http_emulator(tl_http_store *s, const char *value)
{
    int truth = tl_http_truth(value);
    if (truth == 1) {
        s->endpoint = "http://127.0.0.1:10000/devstoreaccount1";
        s->account = "devstoreaccount1";
        s->account_key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    }
    return truth >= 0 ? 1 : -1;
}

static const char **tl_http_place(tl_http_store *s, tl_http_field field)
{
    switch (field) {
    case TL_HTTP_ENDPOINT:
        return &s->endpoint;
    case TL_HTTP_REGION:
        return &s->region;
    case TL_HTTP_ACCESS:
        return &s->access_key;
    case TL_HTTP_SECRET:
        return &s->secret_key;
    case TL_HTTP_SESSION:
        return &s->session_token;
    case TL_HTTP_ACCOUNT:
        return &s->account;
    case TL_HTTP_ACCOUNT_KEY:
        return &s->account_key;
    case TL_HTTP_SAS:
        return &s->sas;
    case TL_HTTP_BEARER:
        return &s->bearer;
    default:
        return NULL;
    }
}

static int tl_http_set(tl_http_store *s, tl_http_field field, const char *value)
{
    const char **at = tl_http_place(s, field);
    if (at != NULL) {
        *at = value;
        return 1;
    }
    switch (field) {
    case TL_HTTP_VIRTUAL:
        return tl_http_switch(&s->virtual_hosted, value);
    case TL_HTTP_SKIP:
        return tl_http_switch(&s->skip_signature, value);
    case TL_HTTP_UNSIGNED:
        return tl_http_switch(&s->unsigned_payload, value);
    case TL_HTTP_INSECURE:
        return tl_http_switch(&s->allow_http, value);
    case TL_HTTP_PAYER:
        return tl_http_switch(&s->request_payer, value);
    case TL_HTTP_EMULATOR:
        return tl_http_emulator(s, value);
    case TL_HTTP_ETAG: /* the one kind of conditional put there is */
        return tl_http_same(tl_text(value), "etag") ? 1 : -1;
    default:
        return 0;
    }
}

TL_API int tl_http_option(tl_http_store *store, const char *name, const char *value)
{
    static const char *const prefixes[] = {"", "aws_", "azure_storage_", "azure_", "google_"};
    const tl_http_name *n;
    size_t i;
    for (n = tl_http_names(store->dialect); n->name != NULL; n++)
        for (i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
            size_t skip = strlen(prefixes[i]);
            if (strncmp(n->name, prefixes[i], skip) == 0 && tl_http_same(tl_text(n->name + skip), name))
                return tl_http_set(store, n->field, value);
        }
    return tl_http_begins(tl_text(name), "aws_") || tl_http_begins(tl_text(name), "azure_")
                   || tl_http_begins(tl_text(name), "google_")
               ? -1
               : 0;
}

TL_API void tl_http_environment(tl_http_store *store)
{
    const tl_http_name *n;
    for (n = tl_http_names(store->dialect); n->name != NULL; n++) {
        char upper[64];
        const char **at = tl_http_place(store, n->field), *value;
        size_t i;
        for (i = 0; n->name[i] != 0 && i + 1 < sizeof upper; i++)
            upper[i] = n->name[i] >= 'a' && n->name[i] <= 'z' ? (char)(n->name[i] - 'a' + 'A') : n->name[i];
        upper[i] = 0;
        value = strncmp(upper, "AWS_", 4) == 0 || strncmp(upper, "AZURE_", 6) == 0 || strncmp(upper, "GOOGLE_", 7) == 0
                    ? getenv(upper) : NULL; /* the others are names of options alone */
        if (value != NULL && value[0] != 0 && (at == NULL || *at == NULL))
            (void)tl_http_set(store, n->field, value);
    }
}

/* Sets *at to a copy of the value in *room, when it is not set yet. */
static void tl_http_keep(const char **at, tl_span value, char **room)
{
    if (*at != NULL || value.size == 0)
        return;
    memcpy(*room, value.data, value.size);
    (*room)[value.size] = 0;
    *at = *room;
    *room += value.size + 1;
}

TL_API int tl_http_profile(tl_http_store *store, tl_span text, const char *profile)
{
    const char *key = NULL, *secret = NULL, *token = NULL, *region = store->region;
    char *room, *owned;
    int inside = 0;
    if (store->owned != NULL || (owned = (char *)malloc(text.size + 8)) == NULL)
        return 0;
    room = owned;
    while (text.size != 0) {
        const char *end = (const char *)memchr(text.data, '\n', text.size), *equals;
        size_t size = end != NULL ? (size_t)(end - text.data) : text.size;
        tl_span line = tl_http_trim(tl_http_span(text.data, size)), name, value;
        text = tl_http_from(text, end != NULL ? size + 1 : size);
        if (line.size == 0 || line.data[0] == '#' || line.data[0] == ';')
            continue;
        if (line.data[0] == '[') {
            line = tl_http_trim(tl_http_span(line.data + 1, line.size - (line.data[line.size - 1] == ']' ? 2 : 1)));
            inside = tl_http_is(line, profile) /* the configuration file says `profile name` */
                     || (tl_http_begins(line, "profile ") && tl_http_is(tl_http_trim(tl_http_from(line, 8)), profile));
            continue;
        }
        equals = (const char *)memchr(line.data, '=', line.size);
        if (!inside || equals == NULL)
            continue;
        name = tl_http_trim(tl_http_span(line.data, (size_t)(equals - line.data)));
        value = tl_http_trim(tl_http_from(line, (size_t)(equals - line.data) + 1));
        if (tl_http_same(name, "aws_access_key_id"))
            tl_http_keep(&key, value, &room);
        else if (tl_http_same(name, "aws_secret_access_key"))
            tl_http_keep(&secret, value, &room);
        else if (tl_http_same(name, "aws_session_token"))
            tl_http_keep(&token, value, &room);
        else if (tl_http_same(name, "region"))
            tl_http_keep(&region, value, &room);
    }
    if (key == NULL || secret == NULL) {
        free(owned);
        return 0;
    }
    store->owned = owned;
    store->access_key = key;
    store->secret_key = secret;
    store->session_token = token;
    store->region = region;
    return 1;
}

TL_API int tl_http_credentials_file(tl_http_store *store)
{
    const char *path = getenv("AWS_SHARED_CREDENTIALS_FILE"), *home = getenv("HOME"), *profile = getenv("AWS_PROFILE");
    char name[4096], *text;
    FILE *file;
    size_t size;
    int found = 0;
    if (store->access_key != NULL)
        return 0;
    if (path == NULL || path[0] == 0) {
        if (home == NULL || snprintf(name, sizeof name, "%s/.aws/credentials", home) >= (int)sizeof name)
            return 0;
        path = name;
    }
    file = fopen(path, "rb");
    text = (char *)malloc(1 << 16); /* keys are short; what lies behind 64 KiB is not read */
    if (file != NULL && text != NULL) {
        size = fread(text, 1, 1 << 16, file);
        profile = profile != NULL && profile[0] != 0 ? profile : "default";
        found = tl_http_profile(store, tl_http_span(text, size), profile);
        memset(text, 0, size);
    }
    if (file != NULL)
        fclose(file);
    free(text);
    return found;
}

/* ---- a request as a message ---- */

typedef struct tl_http_query {
    const char *name;
    tl_span value;
} tl_http_query;

#define TL_HTTP_QUERIES 12

/* What a message is made of before it is text. */
typedef struct tl_http_build {
    const tl_http_store *store;
    const tl_request *request;
    tl_http_call *call;
    tl_http_dialect dialect;
    tl_span bucket, name, account;
    tl_http_text url;          /* scheme, host and path; the query later */
    size_t host, host_end;     /* in url */
    tl_http_text lines;        /* name, 0, value, 0 of each header */
    size_t at[TL_HTTP_HEADERS]; /* where each begins */
    size_t count;
    tl_http_query query[TL_HTTP_QUERIES]; /* sorted by name */
    size_t query_count;
    char max_keys[12];
    char now[32], expires[12];
    const char *problem;
    int unsupported;
} tl_http_build;

/* 1: no control character that could end a header line or URL. */
static int tl_http_clean(tl_span s)
{
    size_t i;
    for (i = 0; i < s.size; i++)
        if ((uint8_t)s.data[i] < 0x20 || s.data[i] == 0x7f)
            return 0;
    return 1;
}

static void tl_http_problem(tl_http_build *b, const char *text)
{
    if (b->problem == NULL)
        b->problem = text;
}

static void tl_http_header_add(tl_http_build *b, const char *name, tl_span value)
{
    if (b->count == TL_HTTP_HEADERS || !tl_http_clean(value)) {
        tl_http_problem(b, "a header value with control characters");
        return;
    }
    b->at[b->count++] = b->lines.size;
    tl_http_add(&b->lines, name, strlen(name) + 1);
    tl_http_add(&b->lines, value.data, value.size);
    tl_http_add(&b->lines, "", 1);
}

static void tl_http_query_add(tl_http_build *b, const char *name, tl_span value)
{
    b->query[b->query_count].name = name;
    b->query[b->query_count++].value = value;
}

/* Bucket, container and account names: what may stand in a host or a path without being something else. */
static int tl_http_plain_name(tl_span s)
{
    size_t i;
    for (i = 0; i < s.size; i++) {
        char c = tl_http_lower(s.data[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '$'
              || (c == '.' && i != 0 && s.data[i - 1] != '.')))
            return 0;
    }
    return s.size != 0;
}

static int tl_http_has_credentials(const tl_http_build *b)
{
    const tl_http_store *s = b->store;
    if (s->skip_signature)
        return 0;
    if (b->dialect == TL_HTTP_S3 || (b->dialect == TL_HTTP_GCS && s->bearer == NULL))
        return s->access_key != NULL && s->secret_key != NULL;
    if (b->dialect == TL_HTTP_AZURE)
        return s->sas != NULL || s->bearer != NULL || s->account_key != NULL;
    return s->bearer != NULL;
}

/* Metadata may name other buckets and accounts. One that is not the host's whose bucket is part of it, and an account
   whose credentials these are not, are another store: what is asked there, or signed, would be something else. */
static int tl_http_is_ours(const tl_http_build *b)
{
    const tl_http_store *s = b->store;
    const char *host = s->endpoint != NULL ? strstr(s->endpoint, "://") : NULL;
    size_t i = 0;
    if (b->account.data != NULL)
        return s->account != NULL ? tl_http_is(b->account, s->account) : !tl_http_has_credentials(b);
    if (b->dialect != TL_HTTP_S3 || !s->virtual_hosted || host == NULL)
        return 1;
    for (host += 3; i < b->bucket.size && tl_http_lower(host[i]) == tl_http_lower(b->bucket.data[i]); i++)
        continue;
    return i == b->bucket.size && (host[i] == 0 || strchr(".:/", host[i]) != NULL);
}

/* Takes the key apart: bucket, name; of abfss://container@account.host/ the account. */
static int tl_http_split(tl_http_build *b)
{
    tl_span key = b->request->key, authority;
    const char *slash, *at;
    size_t i;
    b->dialect = b->store->dialect != TL_HTTP_BY_SCHEME ? b->store->dialect : tl_http_scheme(key);
    for (i = 0; i + 3 <= key.size && memcmp(key.data + i, "://", 3) != 0; i++)
        continue;
    if (b->dialect == TL_HTTP_BY_SCHEME || i + 3 > key.size
        || (tl_http_scheme(key) != b->dialect
            && (b->dialect == TL_HTTP_PLAIN || tl_http_scheme(key) != TL_HTTP_BY_SCHEME)))
        return 0; /* a name that metadata took from another store; a scheme that is nobody's is this store's */
    authority = tl_http_from(key, i + 3);
    slash = authority.size != 0 ? (const char *)memchr(authority.data, '/', authority.size) : NULL;
    b->name = slash != NULL ? tl_http_from(authority, (size_t)(slash - authority.data) + 1) : tl_http_span("", 0);
    authority.size = slash != NULL ? (size_t)(slash - authority.data) : authority.size;
    b->bucket = authority;
    at = authority.size != 0 ? (const char *)memchr(authority.data, '@', authority.size) : NULL;
    if (at != NULL && b->dialect == TL_HTTP_AZURE) {
        b->bucket.size = (size_t)(at - authority.data);
        b->account = tl_http_from(authority, b->bucket.size + 1);
        for (i = 0; i < b->account.size && b->account.data[i] != '.'; i++)
            continue;
        b->account.size = i;
        if (!tl_http_plain_name(b->account))
            return 0;
    }
    return b->dialect == TL_HTTP_PLAIN ? 1 : tl_http_plain_name(b->bucket) && tl_http_is_ours(b);
}

/* What no URL can carry safely: NUL, bytes that are not UTF-8, segments that every client and proxy resolves. */
static int tl_http_sendable(tl_span name)
{
    size_t i, start = 0;
    if (!tl_http_utf8(name))
        return 0;
    for (i = 0; i <= name.size; i++)
        if (i == name.size || name.data[i] == '/') {
            if ((i - start == 1 && name.data[start] == '.')
                || (i - start == 2 && name.data[start] == '.' && name.data[start + 1] == '.'))
                return 0;
            start = i + 1;
        }
    return 1;
}

/* Adds `https://host[:port][/path]` of an endpoint, without a last slash; the default port goes. 0: not one. */
static int tl_http_endpoint(tl_http_build *b, tl_span e)
{
    size_t i, start = tl_http_begins(e, "https://") ? 8 : tl_http_begins(e, "http://") ? 7 : 0, end, port;
    while (e.size > start && e.data[e.size - 1] == '/')
        e.size--;
    for (end = start; end < e.size && e.data[end] != '/'; end++)
        continue;
    if (start == 0 || end == start)
        return 0;
    for (i = start; i < e.size; i++) /* no user, query or fragment; nothing that a URL has to encode */
        if ((uint8_t)e.data[i] <= 0x20 || (uint8_t)e.data[i] >= 0x7f || strchr("?#@\\\"<>^`{|}", e.data[i]) != NULL
            || (e.data[i] == '%' && i < end))
            return 0;
    port = start == 8 ? 4 : 3;
    tl_http_add(&b->url, e.data, start);
    b->host = start;
    for (i = start; i < end; i++) {
        char c = tl_http_lower(e.data[i]);
        if (i + port == end && memcmp(e.data + i, start == 8 ? ":443" : ":80", port) == 0)
            break;
        tl_http_add(&b->url, &c, 1);
    }
    b->host_end = b->url.size;
    tl_http_add(&b->url, e.data + end, e.size - end);
    return 1;
}

/* Scheme, host and the path down to the bucket. */
static int tl_http_base(tl_http_build *b)
{
    const tl_http_store *s = b->store;
    tl_http_text e;
    int ok, in_host = b->dialect == TL_HTTP_S3 && s->virtual_hosted;
    memset(&e, 0, sizeof e);
    if (b->dialect == TL_HTTP_PLAIN) {
        size_t scheme = tl_http_begins(b->request->key, "https") ? 8 : 7;
        return tl_http_endpoint(b, tl_http_span(b->request->key.data, scheme + b->bucket.size));
    }
    if (s->endpoint != NULL) {
        tl_http_say(&e, s->endpoint);
    } else if (b->dialect == TL_HTTP_GCS) {
        tl_http_say(&e, "https://storage.googleapis.com");
    } else if (b->dialect == TL_HTTP_S3) {
        tl_http_say(&e, "https://");
        if (in_host) {
            tl_http_add(&e, b->bucket.data, b->bucket.size);
            tl_http_say(&e, ".");
        }
        tl_http_say(&e, "s3.");
        tl_http_say(&e, s->region != NULL ? s->region : "us-east-1");
        tl_http_say(&e, ".amazonaws.com");
    } else {
        tl_span account = b->account.data != NULL ? b->account : tl_text(s->account);
        if (!tl_http_plain_name(account))
            return 0;
        tl_http_say(&e, "https://");
        tl_http_add(&e, account.data, account.size);
        tl_http_say(&e, ".blob.core.windows.net");
    }
    ok = !e.failed && tl_http_endpoint(b, tl_http_span(e.data, e.size));
    free(e.data);
    if (!in_host) {
        tl_http_say(&b->url, "/");
        tl_http_encode(&b->url, b->bucket, 0);
    }
    return ok;
}

/* 1: nobody listens between us and that host. */
static int tl_http_is_local(const tl_http_build *b)
{
    tl_span host = tl_http_span(b->url.data + b->host, b->host_end - b->host);
    size_t i;
    if (tl_http_begins(host, "[::1]"))
        return 1;
    for (i = 0; i < host.size && host.data[i] != ':'; i++)
        continue;
    host.size = i;
    return tl_http_is(host, "localhost") || tl_http_begins(host, "127.");
}

static void tl_http_range(tl_http_build *b)
{
    const tl_request *r = b->request;
    char text[64];
    uint64_t last;
    if (r->kind != TL_GET || (r->offset == 0 && r->length == TL_WHOLE))
        return;
    if (r->length == 0) {
        tl_http_problem(b, "a range of no bytes");
        return;
    }
    last = r->length - 1 > UINT64_MAX - r->offset ? UINT64_MAX : r->offset + (r->length - 1);
    if (r->length == TL_WHOLE || last > (uint64_t)INT64_MAX)
        snprintf(text, sizeof text, "bytes=%llu-", (unsigned long long)r->offset);
    else
        snprintf(text, sizeof text, "bytes=%llu-%llu", (unsigned long long)r->offset, (unsigned long long)last);
    tl_http_header_add(b, b->dialect == TL_HTTP_AZURE ? "x-ms-range" : "range", tl_text(text));
}

/* The condition of a put or get as this store has it. */
static void tl_http_condition(tl_http_build *b)
{
    const tl_request *r = b->request;
    uint64_t generation;
    if (r->condition == TL_ALWAYS)
        return;
    if (b->dialect == TL_HTTP_GCS) {
        if (r->condition == TL_IF_ABSENT)
            tl_http_header_add(b, "x-goog-if-generation-match", tl_text("0"));
        else if (r->condition == TL_IF_MATCH && tl_http_number(r->etag, &generation) && generation != 0)
            tl_http_header_add(b, "x-goog-if-generation-match", r->etag);
        else if (r->condition == TL_IF_MATCH)
            tl_http_problem(b, "the version to replace is no generation");
        return; /* a get is compared by its answer's generation */
    }
    if (r->condition == TL_IF_ABSENT) {
        tl_http_header_add(b, "if-none-match", tl_text("*"));
    } else if (r->condition == TL_IF_NONE_MATCH) {
        if (r->etag.size != 0 && !tl_http_is(r->etag, "*"))
            tl_http_header_add(b, "if-none-match", r->etag);
    } else if (r->etag.size == 0 || tl_http_begins(r->etag, "W/") || tl_http_is(r->etag, "*")) {
        tl_http_problem(b, "no strong ETag to replace by"); /* and never a put without a condition in its place */
    } else {
        tl_http_header_add(b, "if-match", r->etag);
    }
    if (b->store->endpoint != NULL && r->kind == TL_PUT
        && (strstr(b->store->endpoint, "tigris") != NULL || strstr(b->store->endpoint, "storage.dev") != NULL))
        tl_http_header_add(b, "x-tigris-consistent", tl_text("true")); /* else a replica may judge the condition */
}

static void tl_http_list(tl_http_build *b)
{
    const tl_request *r = b->request;
    int azure = b->dialect == TL_HTTP_AZURE;
    tl_span most = tl_http_span(b->max_keys, 0);
    if (r->max_keys != 0)
        most.size = (size_t)snprintf(b->max_keys, sizeof b->max_keys, "%u", (unsigned)r->max_keys);
    if (azure)
        tl_http_query_add(b, "comp", tl_text("list"));
    if (azure && r->page.data != NULL)
        tl_http_query_add(b, "marker", r->page);
    if (!azure) {
        if (r->page.data != NULL)
            tl_http_query_add(b, "continuation-token", r->page);
        tl_http_query_add(b, "encoding-type", tl_text("url"));
        tl_http_query_add(b, "list-type", tl_text("2"));
    }
    if (most.size != 0)
        tl_http_query_add(b, azure ? "maxresults" : "max-keys", most);
    tl_http_query_add(b, "prefix", b->name);
    if (azure)
        tl_http_query_add(b, "restype", tl_text("container"));
}

/* Method, path, query and the headers that do not depend on who asks. */
static void tl_http_parts(tl_http_build *b)
{
    static const char *const methods[] = {"GET", "HEAD", "GET", "PUT", "DELETE", ""};
    const tl_request *r = b->request;
    char number[24];
    b->call->method = methods[r->kind];
    tl_http_header_add(b, "accept-encoding", tl_text("identity")); /* else nginx drops ranges and weakens ETags */
    if (r->kind == TL_LIST) {
        if (b->dialect == TL_HTTP_S3 && b->store->virtual_hosted)
            tl_http_say(&b->url, "/");
        tl_http_list(b);
        return;
    }
    tl_http_say(&b->url, "/");
    tl_http_encode(&b->url, b->name, 1);
    if (r->kind == TL_PUT) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)r->body_size);
        tl_http_header_add(b, "content-length", tl_text(number));
        tl_http_header_add(b, "content-type", tl_text("application/octet-stream"));
        if (b->dialect == TL_HTTP_AZURE)
            tl_http_header_add(b, "x-ms-blob-type", tl_text("BlockBlob"));
    }
    tl_http_condition(b);
    tl_http_range(b);
    if (b->dialect == TL_HTTP_S3 && b->store->request_payer)
        tl_http_header_add(b, "x-amz-request-payer", tl_text("requester"));
}

/* ---- signing ---- */

static tl_span tl_http_line(const tl_http_build *b, size_t i, tl_span *value)
{
    const char *name = b->lines.data + b->at[i];
    *value = tl_text(name + strlen(name) + 1);
    return tl_text(name);
}

static tl_span tl_http_line_value(const tl_http_build *b, const char *name)
{
    tl_span value;
    size_t i;
    for (i = 0; i < b->count; i++)
        if (tl_http_is(tl_http_line(b, i, &value), name))
            return value;
    return tl_text("");
}

/* The query as it is sent; SigV4 signs the very same text. */
static void tl_http_add_query(tl_http_text *t, const tl_http_build *b)
{
    size_t i;
    for (i = 0; i < b->query_count; i++) {
        tl_http_say(t, i == 0 ? "" : "&");
        tl_http_encode(t, tl_text(b->query[i].name), 0);
        tl_http_say(t, "=");
        tl_http_encode(t, b->query[i].value, 0);
    }
}

/* Which headers are signed: all that no proxy changes on its way. */
static int tl_http_signs(tl_span name)
{
    return !tl_http_is(name, "accept-encoding") && !tl_http_is(name, "content-length");
}

/* Header numbers by name; `host` is number `count`. */
static size_t tl_http_sorted(const tl_http_build *b, size_t *order)
{
    size_t i, k, n = 0;
    for (i = 0; i <= b->count; i++) {
        tl_span value, name = i < b->count ? tl_http_line(b, i, &value) : tl_text("host");
        if (!tl_http_signs(name))
            continue;
        for (k = n++; k != 0; k--) {
            tl_span other = order[k - 1] < b->count ? tl_http_line(b, order[k - 1], &value) : tl_text("host");
            if (tl_span_compare(other, name) <= 0)
                break;
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
    return n;
}

static void tl_http_names_of(tl_http_text *t, const tl_http_build *b, const size_t *order, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) {
        tl_span value, name = order[i] < b->count ? tl_http_line(b, order[i], &value) : tl_text("host");
        tl_http_say(t, i == 0 ? "" : ";");
        tl_http_add(t, name.data, name.size);
    }
}

/* SigV4 as AWS and as GCS name it. */
typedef struct tl_http_v4 {
    const char *algorithm, *prefix, *service, *terminator, *date, *sha, *token;
    const char *q_algorithm, *q_credential, *q_date, *q_expires, *q_token, *q_names, *q_signature;
} tl_http_v4;

static const tl_http_v4 tl_http_aws4 = {
    "AWS4-HMAC-SHA256", "AWS4", "s3", "aws4_request", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token",
    "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-SignedHeaders",
    "X-Amz-Signature"};
static const tl_http_v4 tl_http_goog4 = {
    "GOOG4-HMAC-SHA256", "GOOG4", "storage", "goog4_request", "x-goog-date", "x-goog-content-sha256",
    "x-goog-security-token", "X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date", "X-Goog-Expires",
    "X-Goog-Security-Token", "X-Goog-SignedHeaders", "X-Goog-Signature"};

static void tl_http_body_hash(const tl_http_build *b, char *hex)
{
    uint8_t hash[TL_HTTP_SHA];
    tl_http_sha sha;
    size_t i;
    tl_http_sha_begin(&sha);
    for (i = 0; i < b->request->body_count && b->request->kind == TL_PUT; i++)
        if (b->request->body[i].size != 0)
            tl_http_sha_add(&sha, b->request->body[i].data, b->request->body[i].size);
    tl_http_sha_end(&sha, hash);
    tl_http_to_hex(hash, sizeof hash, hex);
}

static void tl_http_scope(tl_http_text *t, const tl_http_build *b, const tl_http_v4 *v, const char *date)
{
    const char *region = b->dialect == TL_HTTP_GCS ? "auto" : b->store->region != NULL ? b->store->region : "us-east-1";
    tl_http_add(t, date, 8);
    tl_http_say(t, "/");
    tl_http_say(t, region);
    tl_http_say(t, "/");
    tl_http_say(t, v->service);
    tl_http_say(t, "/");
    tl_http_say(t, v->terminator);
}

static void tl_http_canonical(tl_http_text *t, const tl_http_build *b, const char *payload, const size_t *order,
                              size_t n)
{
    size_t i;
    tl_http_say(t, b->call->method);
    tl_http_say(t, "\n");
    tl_http_add(t, b->url.data + b->host_end, b->url.size - b->host_end);
    tl_http_say(t, b->url.size == b->host_end ? "/\n" : "\n");
    tl_http_add_query(t, b);
    tl_http_say(t, "\n");
    for (i = 0; i < n; i++) {
        tl_span value = tl_http_span(b->url.data + b->host, b->host_end - b->host), name = tl_text("host");
        size_t k;
        if (order[i] < b->count)
            name = tl_http_line(b, order[i], &value);
        value = tl_http_trim(value);
        tl_http_add(t, name.data, name.size);
        tl_http_say(t, ":");
        for (k = 0; k < value.size; k++) /* runs of spaces are one */
            if (value.data[k] != ' ' || value.data[k - 1] != ' ')
                tl_http_add(t, value.data + k, 1);
        tl_http_say(t, "\n");
    }
    tl_http_say(t, "\n");
    tl_http_names_of(t, b, order, n);
    tl_http_say(t, "\n");
    tl_http_say(t, payload);
}

/* The signature of a canonical request: 64 digits and a zero. 0: no memory. */
static int tl_http_v4_signature(const tl_http_build *b, const tl_http_v4 *v, const char *date, const char *payload,
                                const size_t *order, size_t n, char *out)
{
    const char *region = b->dialect == TL_HTTP_GCS ? "auto" : b->store->region != NULL ? b->store->region : "us-east-1";
    uint8_t key[TL_HTTP_SHA], hash[TL_HTTP_SHA];
    tl_http_text text, secret;
    tl_http_sha sha;
    int ok;
    memset(&text, 0, sizeof text);
    memset(&secret, 0, sizeof secret);
    tl_http_canonical(&text, b, payload, order, n);
    tl_http_say(&secret, v->prefix);
    tl_http_say(&secret, b->store->secret_key);
    ok = !text.failed && !secret.failed;
    if (ok) {
        tl_http_sha_begin(&sha);
        tl_http_sha_add(&sha, text.data, text.size);
        tl_http_sha_end(&sha, hash);
        tl_http_to_hex(hash, sizeof hash, out);
        text.size = 0;
        tl_http_say(&text, v->algorithm);
        tl_http_say(&text, "\n");
        tl_http_say(&text, date);
        tl_http_say(&text, "\n");
        tl_http_scope(&text, b, v, date);
        tl_http_say(&text, "\n");
        tl_http_say(&text, out);
        ok = !text.failed;
    }
    if (ok) {
        tl_http_hmac(secret.data, secret.size, date, 8, key);
        tl_http_hmac(key, sizeof key, region, strlen(region), key);
        tl_http_hmac(key, sizeof key, v->service, strlen(v->service), key);
        tl_http_hmac(key, sizeof key, v->terminator, strlen(v->terminator), key);
        tl_http_hmac(key, sizeof key, text.data, text.size, hash);
        tl_http_to_hex(hash, sizeof hash, out);
    }
    if (secret.data != NULL)
        memset(secret.data, 0, secret.size);
    free(secret.data);
    free(text.data);
    return ok;
}

static void tl_http_sign_v4(tl_http_build *b, const tl_http_v4 *v, int64_t now)
{
    char date[17], payload[2 * TL_HTTP_SHA + 1], signature[2 * TL_HTTP_SHA + 1];
    size_t order[TL_HTTP_HEADERS + 1], n;
    tl_http_text t;
    memset(&t, 0, sizeof t);
    tl_http_amz_date(now, date);
    if (b->store->unsigned_payload && b->request->kind == TL_PUT)
        memcpy(payload, "UNSIGNED-PAYLOAD", 17);
    else
        tl_http_body_hash(b, payload);
    tl_http_header_add(b, v->sha, tl_text(payload));
    tl_http_header_add(b, v->date, tl_text(date));
    if (b->store->session_token != NULL)
        tl_http_header_add(b, v->token, tl_text(b->store->session_token));
    if (b->problem != NULL || b->lines.failed || b->url.failed)
        return;
    n = tl_http_sorted(b, order);
    if (!tl_http_v4_signature(b, v, date, payload, order, n, signature)) {
        b->url.failed = 1;
        return;
    }
    tl_http_say(&t, v->algorithm);
    tl_http_say(&t, " Credential=");
    tl_http_say(&t, b->store->access_key);
    tl_http_say(&t, "/");
    tl_http_scope(&t, b, v, date);
    tl_http_say(&t, ", SignedHeaders=");
    tl_http_names_of(&t, b, order, n);
    tl_http_say(&t, ", Signature=");
    tl_http_say(&t, signature);
    if (!t.failed)
        tl_http_header_add(b, "authorization", tl_http_span(t.data, t.size));
    b->url.failed |= t.failed;
    free(t.data);
}

/* Base64 of the HMAC of text under the account's key: 44 characters and a zero. */
static int tl_http_azure_mac(const char *account_key, const tl_http_text *text, char *out)
{
    uint8_t key[128], mac[TL_HTTP_SHA];
    size_t n = tl_http_from_base64(account_key, key, sizeof key);
    if (n == (size_t)-1 || text->failed)
        return 0;
    tl_http_hmac(key, n, text->data, text->size, mac);
    tl_http_to_base64(mac, out);
    return 1;
}

/* SharedKey: the string to sign of Azure's "Authorize with Shared Key", for blobs. */
static void tl_http_sign_azure(tl_http_build *b)
{
    static const char *const slots[] = {"content-encoding", "content-language", "content-length", "content-md5",
                                        "content-type", "date", "if-modified-since", "if-match", "if-none-match",
                                        "if-unmodified-since", "range"};
    tl_span account = b->account.data != NULL ? b->account : tl_text(b->store->account);
    size_t order[TL_HTTP_HEADERS + 1], i, n = tl_http_sorted(b, order);
    tl_http_text t, full;
    char mac[48];
    memset(&t, 0, sizeof t);
    memset(&full, 0, sizeof full);
    tl_http_say(&t, b->call->method);
    tl_http_say(&t, "\n");
    for (i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        tl_span value = tl_http_line_value(b, slots[i]);
        if (!tl_http_is(value, "0")) /* a length of 0 is left empty */
            tl_http_add(&t, value.data, value.size);
        tl_http_say(&t, "\n");
    }
    for (i = 0; i < n; i++) {
        tl_span value, name = order[i] < b->count ? tl_http_line(b, order[i], &value) : tl_text("host");
        if (!tl_http_begins(name, "x-ms-"))
            continue;
        tl_http_add(&t, name.data, name.size);
        tl_http_say(&t, ":");
        tl_http_add(&t, value.data, value.size);
        tl_http_say(&t, "\n");
    }
    tl_http_say(&t, "/");
    tl_http_add(&t, account.data, account.size);
    tl_http_add(&t, b->url.data + b->host_end, b->url.size - b->host_end);
    for (i = 0; i < b->query_count; i++) {
        tl_http_say(&t, "\n");
        tl_http_say(&t, b->query[i].name);
        tl_http_say(&t, ":");
        tl_http_add(&t, b->query[i].value.data, b->query[i].value.size);
    }
    if (!tl_http_azure_mac(b->store->account_key, &t, mac)) {
        tl_http_problem(b, "the account key is not base64");
    } else {
        tl_http_say(&full, "SharedKey ");
        tl_http_add(&full, account.data, account.size);
        tl_http_say(&full, ":");
        tl_http_say(&full, mac);
        if (!full.failed)
            tl_http_header_add(b, "authorization", tl_http_span(full.data, full.size));
        b->url.failed |= full.failed;
    }
    free(t.data);
    free(full.data);
}

static void tl_http_bearer(tl_http_build *b)
{
    tl_http_text t;
    memset(&t, 0, sizeof t);
    tl_http_say(&t, "Bearer ");
    tl_http_say(&t, b->store->bearer);
    if (!t.failed)
        tl_http_header_add(b, "authorization", tl_http_span(t.data, t.size));
    b->url.failed |= t.failed;
    free(t.data);
}

/* 1: the request goes to the endpoint's scheme and host. Keys over plain HTTP name theirs, some out of metadata. */
static int tl_http_is_own(const tl_http_build *b)
{
    tl_http_build e;
    size_t n = b->host_end;
    int own;
    memset(&e, 0, sizeof e);
    own = b->store->endpoint != NULL && tl_http_endpoint(&e, tl_text(b->store->endpoint)) && !e.url.failed
          && !b->url.failed && e.host_end == n && memcmp(e.url.data, b->url.data, n) == 0;
    free(e.url.data);
    return own;
}

static void tl_http_sign(tl_http_build *b, int64_t now)
{
    const tl_http_store *s = b->store;
    int has = tl_http_has_credentials(b);
    char date[30];
    if (has && b->host != 8 && !s->allow_http && !tl_http_is_local(b)) /* not https:// */
        tl_http_problem(b, "credentials do not go over plain HTTP (allow_http)");
    if (has && b->dialect == TL_HTTP_PLAIN && !tl_http_is_own(b))
        tl_http_problem(b, "credentials go to the store's own host alone");
    if (b->dialect == TL_HTTP_AZURE) {
        tl_http_date(now, date);
        tl_http_header_add(b, "x-ms-date", tl_text(date));
        tl_http_header_add(b, "x-ms-version", tl_text(TL_HTTP_AZURE_VERSION));
    }
    if (!has || b->problem != NULL)
        return;
    if (b->dialect == TL_HTTP_S3)
        tl_http_sign_v4(b, &tl_http_aws4, now);
    else if (b->dialect == TL_HTTP_AZURE && s->sas != NULL)
        return; /* joins the query */
    else if (s->bearer != NULL)
        tl_http_bearer(b);
    else if (b->dialect == TL_HTTP_AZURE)
        tl_http_sign_azure(b);
    else
        tl_http_sign_v4(b, &tl_http_goog4, now);
}

/* Whether the store has such a request at all. */
static int tl_http_can(tl_http_build *b)
{
    const tl_request *r = b->request;
    if (b->dialect == TL_HTTP_PLAIN
        && (r->kind == TL_LIST || ((r->kind == TL_PUT || r->kind == TL_DELETE) && !b->store->plain_writes))) {
        tl_http_problem(b, r->kind == TL_LIST ? "plain HTTP cannot list" : "plain HTTP is read only");
        b->unsupported = 1;
        return 0;
    }
    if (r->kind == TL_SLEEP || (r->kind != TL_LIST && b->name.size == 0))
        tl_http_problem(b, "not a request for a store");
    if (r->kind == TL_LIST ? !tl_http_utf8(b->name) : !tl_http_sendable(b->name))
        tl_http_problem(b, "a key that cannot be sent over HTTP");
    return b->problem == NULL;
}

/* Everything up to the signature. 1: go on. */
static int tl_http_prepare(tl_http_build *b, const tl_http_store *store, const tl_request *request, tl_http_call *call)
{
    memset(call, 0, sizeof *call);
    memset(b, 0, sizeof *b);
    b->store = store;
    b->request = request;
    b->call = call;
    if (!tl_http_split(b)) {
        tl_http_problem(b, "a key of another store");
        return 0;
    }
    if (!tl_http_can(b))
        return 0;
    if (!tl_http_base(b)) {
        tl_http_problem(b, "the endpoint or account is missing or malformed");
        return 0;
    }
    tl_http_parts(b);
    return b->problem == NULL && !b->url.failed && !b->lines.failed;
}

/* Ends the build: URL, host and headers in one piece of memory, or the outcome. */
static tl_outcome tl_http_finish(tl_http_build *b, const char *more)
{
    tl_http_call *call = b->call;
    size_t i, host = b->host_end - b->host, url;
    tl_outcome outcome = b->unsupported ? TL_OUTCOME_UNSUPPORTED : TL_OUTCOME_FAILED;
    if (b->problem == NULL) {
        tl_http_say(&b->url, b->query_count != 0 ? "?" : "");
        tl_http_add_query(&b->url, b);
        if (more != NULL) {
            tl_http_say(&b->url, b->query_count != 0 ? "&" : "?");
            tl_http_say(&b->url, more);
        }
    }
    url = b->url.size;
    if (b->problem == NULL && !b->url.failed && !b->lines.failed)
        call->memory = (char *)malloc(url + host + b->lines.size + 2);
    if (call->memory != NULL) {
        memcpy(call->memory, b->url.data, url);
        call->memory[url] = 0;
        memcpy(call->memory + url + 1, b->url.data + b->host, host);
        call->memory[url + 1 + host] = 0;
        memcpy(call->memory + url + host + 2, b->lines.data, b->lines.size);
        call->url = call->memory;
        call->host = call->memory + url + 1;
        for (i = 0; i < b->count; i++) {
            call->headers[i].name = call->memory + url + host + 2 + b->at[i];
            call->headers[i].value = call->headers[i].name + strlen(call->headers[i].name) + 1;
        }
        call->header_count = b->count;
        outcome = TL_OUTCOME_OK;
    } else {
        call->text = b->problem != NULL ? b->problem : "no memory";
    }
    free(b->url.data);
    free(b->lines.data);
    return outcome;
}

TL_API tl_outcome tl_http_make(const tl_http_store *store, const tl_request *request, int64_t now, tl_http_call *call)
{
    tl_http_build b;
    const char *sas = NULL;
    if (tl_http_prepare(&b, store, request, call)) {
        tl_http_sign(&b, now + store->skew_ms);
        if (b.dialect == TL_HTTP_AZURE && store->sas != NULL && !store->skip_signature) {
            sas = store->sas[0] == '?' ? store->sas + 1 : store->sas;
            if (!tl_http_clean(tl_text(sas)) || strpbrk(sas, " #") != NULL)
                tl_http_problem(&b, "the SAS is not a query string");
        }
    }
    return tl_http_finish(&b, sas);
}

/* The signature's parameters before those of the request, which sort behind them; the signature itself to `last`. */
static void tl_http_presign_query(tl_http_build *b, const tl_http_v4 *v, int64_t now, uint32_t seconds,
                                  tl_http_text *credential, tl_http_text *names, tl_http_text *last)
{
    char signature[2 * TL_HTTP_SHA + 1];
    size_t order[TL_HTTP_HEADERS + 1], n = tl_http_sorted(b, order), i, own = b->query_count;
    tl_http_query rest[TL_HTTP_QUERIES];
    memcpy(rest, b->query, sizeof rest);
    tl_http_amz_date(now, b->now);
    snprintf(b->expires, sizeof b->expires, "%u", (unsigned)seconds);
    tl_http_say(credential, b->store->access_key);
    tl_http_say(credential, "/");
    tl_http_scope(credential, b, v, b->now);
    tl_http_names_of(names, b, order, n);
    b->query_count = 0;
    tl_http_query_add(b, v->q_algorithm, tl_text(v->algorithm));
    tl_http_query_add(b, v->q_credential, tl_http_span(credential->data, credential->size));
    tl_http_query_add(b, v->q_date, tl_text(b->now));
    tl_http_query_add(b, v->q_expires, tl_text(b->expires));
    if (b->store->session_token != NULL)
        tl_http_query_add(b, v->q_token, tl_text(b->store->session_token));
    tl_http_query_add(b, v->q_names, tl_http_span(names->data, names->size));
    for (i = 0; i < own; i++)
        tl_http_query_add(b, rest[i].name, rest[i].value);
    if (credential->failed || names->failed
        || !tl_http_v4_signature(b, v, b->now, "UNSIGNED-PAYLOAD", order, n, signature)) {
        b->url.failed = 1;
        return;
    }
    tl_http_say(last, v->q_signature);
    tl_http_say(last, "=");
    tl_http_say(last, signature);
    b->url.failed |= last->failed;
}

TL_API tl_outcome tl_http_presign(const tl_http_store *store, const tl_request *request, int64_t now, uint32_t seconds,
                                  tl_http_call *call)
{
    tl_http_text credential, names, last;
    tl_http_build b;
    tl_outcome outcome;
    memset(&credential, 0, sizeof credential);
    memset(&names, 0, sizeof names);
    memset(&last, 0, sizeof last);
    if (tl_http_prepare(&b, store, request, call)) {
        if ((b.dialect != TL_HTTP_S3 && b.dialect != TL_HTTP_GCS) || store->access_key == NULL
            || store->secret_key == NULL)
            tl_http_problem(&b, "nothing to presign with");
        else
            tl_http_presign_query(&b, b.dialect == TL_HTTP_GCS ? &tl_http_goog4 : &tl_http_aws4, now + store->skew_ms,
                                  seconds, &credential, &names, &last);
    }
    outcome = tl_http_finish(&b, last.data);
    free(credential.data);
    free(names.data);
    free(last.data);
    return outcome;
}

TL_API void tl_http_call_free(tl_http_call *call)
{
    free(call->memory);
    memset(call, 0, sizeof *call);
}

TL_API char *tl_http_azure_sas(const tl_http_store *store, tl_span container, tl_span name, const char *permissions,
                               int64_t expires)
{
    tl_http_time e = tl_http_civil(expires);
    tl_http_text t, query;
    char until[96], mac[48];
    memset(&t, 0, sizeof t);
    memset(&query, 0, sizeof query);
    snprintf(until, sizeof until, "%04d-%02d-%02dT%02d:%02d:%02dZ", e.year, e.month, e.day, e.hour, e.minute, e.second);
    tl_http_say(&t, permissions);
    tl_http_say(&t, "\n\n"); /* no start */
    tl_http_say(&t, until);
    tl_http_say(&t, "\n/blob/");
    tl_http_say(&t, store->account != NULL ? store->account : "");
    tl_http_say(&t, "/");
    tl_http_add(&t, container.data, container.size);
    if (name.data != NULL) {
        tl_http_say(&t, "/");
        tl_http_add(&t, name.data, name.size);
    }
    tl_http_say(&t, "\n\n\n\n" TL_HTTP_AZURE_VERSION "\n"); /* no policy, address, protocol */
    tl_http_say(&t, name.data != NULL ? "b" : "c");
    tl_http_say(&t, "\n\n\n\n\n\n\n"); /* no snapshot, scope, response headers */
    if (store->account_key == NULL || !tl_http_azure_mac(store->account_key, &t, mac)) {
        free(t.data);
        return NULL;
    }
    tl_http_say(&query, "se=");
    tl_http_encode(&query, tl_text(until), 0);
    tl_http_say(&query, "&sp=");
    tl_http_encode(&query, tl_text(permissions), 0);
    tl_http_say(&query, "&sv=" TL_HTTP_AZURE_VERSION "&sr=");
    tl_http_say(&query, name.data != NULL ? "b&sig=" : "c&sig=");
    tl_http_encode(&query, tl_text(mac), 0);
    free(t.data);
    if (query.failed) {
        free(query.data);
        return NULL;
    }
    return query.data;
}

/* ---- XML: elements and text, strictly; no DOCTYPE, no entities but the five and numbers ---- */

#define TL_HTTP_DEPTH 16

typedef enum tl_http_event { TL_HTTP_OPEN, TL_HTTP_CLOSE, TL_HTTP_CHARS, TL_HTTP_END, TL_HTTP_BAD } tl_http_event;

typedef struct tl_http_xml {
    const char *p, *end;
    tl_span stack[TL_HTTP_DEPTH]; /* names with their namespace prefix */
    int depth;
    int rooted;  /* the root element has been opened */
    int empty;   /* the element just opened was `<x/>` */
    int encoded; /* it had Encoded="true" (Azure: its text is percent-encoded) */
    int cdata;
    tl_span text; /* of CHARS, as it stands */
} tl_http_xml;

static void tl_http_xml_begin(tl_http_xml *x, tl_span s)
{
    memset(x, 0, sizeof *x);
    if (tl_http_begins(s, "\xEF\xBB\xBF")) /* Azure begins with a byte order mark */
        s = tl_http_from(s, 3);
    x->p = s.data;
    x->end = s.data + s.size;
}

/* The element's name without its prefix. */
static tl_span tl_http_xml_name(const tl_http_xml *x)
{
    tl_span name = x->stack[x->depth - 1];
    size_t i;
    for (i = 0; i < name.size; i++)
        if (name.data[i] == ':')
            return tl_http_from(name, i + 1);
    return name;
}

static int tl_http_xml_at(const tl_http_xml *x, const char *text)
{
    return tl_http_begins(tl_http_span(x->p, (size_t)(x->end - x->p)), text);
}

/* Goes on behind the next `mark`; 0 when there is none. */
static int tl_http_xml_skip(tl_http_xml *x, const char *mark)
{
    size_t n = strlen(mark);
    for (; (size_t)(x->end - x->p) >= n; x->p++)
        if (memcmp(x->p, mark, n) == 0) {
            x->p += n;
            return 1;
        }
    return 0;
}

static tl_span tl_http_xml_word(tl_http_xml *x)
{
    const char *start = x->p;
    for (; x->p != x->end; x->p++) {
        char c = tl_http_lower(*x->p);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '-' || c == '.'
              || (uint8_t)c >= 0x80))
            break;
    }
    return tl_http_span(start, (size_t)(x->p - start));
}

static void tl_http_xml_space(tl_http_xml *x)
{
    while (x->p != x->end && tl_http_blank(*x->p))
        x->p++;
}

/* Behind a tag's name: attributes, then `>` or `/>`. */
static int tl_http_xml_attributes(tl_http_xml *x)
{
    x->encoded = 0;
    for (;;) {
        const char *before = x->p, *value;
        tl_span name;
        char quote;
        tl_http_xml_space(x);
        x->empty = tl_http_xml_at(x, "/>");
        if (x->empty || tl_http_xml_at(x, ">")) {
            x->p += x->empty ? 2 : 1;
            return 1;
        }
        name = tl_http_xml_word(x);
        if (name.size == 0 || before == name.data)
            return 0;
        tl_http_xml_space(x);
        if (x->p == x->end || *x->p++ != '=')
            return 0;
        tl_http_xml_space(x);
        if (x->p == x->end || (*x->p != '"' && *x->p != '\''))
            return 0;
        quote = *x->p++;
        for (value = x->p; x->p != x->end && *x->p != quote && *x->p != '<'; x->p++)
            continue;
        if (x->p == x->end || *x->p != quote)
            return 0;
        if (tl_http_is(name, "Encoded") && tl_http_is(tl_http_span(value, (size_t)(x->p - value)), "true"))
            x->encoded = 1;
        x->p++;
    }
}

static tl_http_event tl_http_xml_open(tl_http_xml *x)
{
    tl_span name;
    x->p++;
    name = tl_http_xml_word(x);
    if (name.size == 0 || x->depth == TL_HTTP_DEPTH || (x->depth == 0 && x->rooted) || !tl_http_xml_attributes(x))
        return TL_HTTP_BAD;
    x->rooted = 1;
    x->stack[x->depth++] = name;
    return TL_HTTP_OPEN;
}

static tl_http_event tl_http_xml_close(tl_http_xml *x)
{
    tl_span name;
    x->p += 2;
    name = tl_http_xml_word(x);
    tl_http_xml_space(x);
    if (x->p == x->end || *x->p++ != '>' || x->depth == 0 || !tl_span_equal(name, x->stack[x->depth - 1]))
        return TL_HTTP_BAD;
    return TL_HTTP_CLOSE;
}

/* The next event. After CLOSE the element is still on the stack: the caller counts depth down. */
static tl_http_event tl_http_xml_next(tl_http_xml *x)
{
    const char *start;
    if (x->empty) {
        x->empty = 0;
        return TL_HTTP_CLOSE;
    }
    for (;;) {
        start = x->p;
        if (x->p == x->end)
            return x->depth == 0 && x->rooted ? TL_HTTP_END : TL_HTTP_BAD;
        x->cdata = 0;
        if (*x->p != '<') {
            while (x->p != x->end && *x->p != '<' && (x->depth != 0 || tl_http_blank(*x->p)))
                x->p++;
            x->text = tl_http_span(start, (size_t)(x->p - start));
            if (x->depth != 0)
                return TL_HTTP_CHARS;
            if (x->p != x->end && *x->p != '<')
                return TL_HTTP_BAD;
        } else if (tl_http_xml_at(x, "<?")) {
            if (!tl_http_xml_skip(x, "?>"))
                return TL_HTTP_BAD;
        } else if (tl_http_xml_at(x, "<!--")) {
            x->p += 4;
            if (!tl_http_xml_skip(x, "-->"))
                return TL_HTTP_BAD;
        } else if (tl_http_xml_at(x, "<![CDATA[") && x->depth != 0) {
            x->p += 9;
            if (!tl_http_xml_skip(x, "]]>"))
                return TL_HTTP_BAD;
            x->text = tl_http_span(start + 9, (size_t)(x->p - start) - 12);
            x->cdata = 1;
            return TL_HTTP_CHARS;
        } else if (tl_http_xml_at(x, "</")) {
            return tl_http_xml_close(x);
        } else { /* of `<!DOCTYPE` it finds no name */
            return tl_http_xml_open(x);
        }
    }
}

static size_t tl_http_put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* What `&name;` stands for; 0 when it is none of XML's own, no character, or NUL. */
static uint32_t tl_http_entity(tl_span name)
{
    static const char *const names[] = {"amp", "lt", "gt", "quot", "apos"};
    uint32_t c = 0;
    size_t i, hex;
    for (i = 0; i < 5; i++)
        if (tl_http_is(name, names[i]))
            return (uint32_t)"&<>\"'"[i];
    if (name.size < 2 || name.data[0] != '#')
        return 0;
    hex = name.data[1] == 'x';
    if (name.size == 1 + hex)
        return 0;
    for (i = 1 + hex; i < name.size; i++) {
        int digit = tl_http_hex(name.data[i]);
        if (digit < 0 || (!hex && digit > 9) || c > 0x10FFFF)
            return 0;
        c = c * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? 0 : c;
}

/* The characters of CHARS to `out`, which has room for text.size bytes. 0: a bare `&` or an unknown entity. */
static int tl_http_xml_text(const tl_http_xml *x, char *out, size_t *size)
{
    size_t i, n = 0;
    for (i = 0; i < x->text.size; i++) {
        const char *semicolon;
        uint32_t c;
        if (x->text.data[i] != '&' || x->cdata) {
            out[n++] = x->text.data[i];
            continue;
        }
        semicolon = (const char *)memchr(x->text.data + i, ';', x->text.size - i < 12 ? x->text.size - i : 12);
        if (semicolon == NULL)
            return 0;
        c = tl_http_entity(tl_http_span(x->text.data + i + 1, (size_t)(semicolon - x->text.data) - i - 1));
        if (c == 0)
            return 0;
        n += tl_http_put_utf8(out + n, c);
        i = (size_t)(semicolon - x->text.data);
    }
    *size = n;
    return 1;
}

/* ---- listings ---- */

typedef enum tl_http_leaf {
    TL_HTTP_NO_LEAF, TL_HTTP_KEY, TL_HTTP_SIZE, TL_HTTP_TAG, TL_HTTP_GENERATION, TL_HTTP_TRUNCATED, TL_HTTP_TOKEN,
    TL_HTTP_ENCODING
} tl_http_leaf;

typedef struct tl_http_listing {
    tl_http_xml xml;
    tl_http_answer *answer;
    tl_http_dialect dialect;
    tl_span lead; /* scheme://bucket/ */
    size_t used;  /* of answer->names */
    size_t start; /* of the leaf being read */
    tl_http_leaf leaf;
    int encoded;   /* this key is percent-encoded (Azure) */
    int has_key, has_size, generation;
    int url;       /* all keys are (S3) */
    int truncated; /* -1: not said yet */
    tl_span token;
    tl_entry *entry;
} tl_http_listing;

static tl_http_leaf tl_http_leaf_of(const tl_http_listing *l)
{
    const tl_http_xml *x = &l->xml;
    tl_span name = tl_http_xml_name(x);
    int entry = l->entry != NULL;
    if (l->dialect == TL_HTTP_AZURE) {
        if (x->depth == 2)
            return tl_http_is(name, "NextMarker") ? TL_HTTP_TOKEN : TL_HTTP_NO_LEAF;
        if (entry && x->depth == 4)
            return tl_http_is(name, "Name") ? TL_HTTP_KEY : TL_HTTP_NO_LEAF;
        if (entry && x->depth == 5)
            return tl_http_is(name, "Content-Length") ? TL_HTTP_SIZE
                   : tl_http_is(name, "Etag")         ? TL_HTTP_TAG
                                                      : TL_HTTP_NO_LEAF;
        return TL_HTTP_NO_LEAF;
    }
    if (entry && x->depth == 3)
        return tl_http_is(name, "Key")          ? TL_HTTP_KEY
               : tl_http_is(name, "Size")       ? TL_HTTP_SIZE
               : tl_http_is(name, "ETag")       ? TL_HTTP_TAG
               : tl_http_is(name, "Generation") ? TL_HTTP_GENERATION
                                                : TL_HTTP_NO_LEAF;
    if (x->depth == 2)
        return tl_http_is(name, "IsTruncated")             ? TL_HTTP_TRUNCATED
               : tl_http_is(name, "NextContinuationToken") ? TL_HTTP_TOKEN
               : tl_http_is(name, "EncodingType")          ? TL_HTTP_ENCODING
                                                           : TL_HTTP_NO_LEAF;
    return TL_HTTP_NO_LEAF;
}

static int tl_http_list_open(tl_http_listing *l)
{
    tl_span name = tl_http_xml_name(&l->xml);
    tl_http_answer *a = l->answer;
    int azure = l->dialect == TL_HTTP_AZURE;
    if (l->leaf != TL_HTTP_NO_LEAF)
        return 0; /* an element where text belongs */
    if (l->xml.depth == 1)
        return tl_http_is(name, azure ? "EnumerationResults" : "ListBucketResult");
    if (azure ? l->xml.depth == 3 && tl_http_is(name, "Blob") && tl_http_is(l->xml.stack[1], "Blobs")
              : l->xml.depth == 2 && tl_http_is(name, "Contents")) {
        l->entry = &a->entries[a->completion.entry_count++];
        l->has_key = l->has_size = l->generation = 0;
    }
    l->leaf = tl_http_leaf_of(l);
    if (l->leaf == TL_HTTP_KEY) {
        if (l->has_key++)
            return 0;
        l->encoded = l->xml.encoded;
        l->entry->key.data = a->names + l->used;
        memcpy(a->names + l->used, l->lead.data, l->lead.size);
        l->used += l->lead.size;
    }
    l->start = l->used;
    return 1;
}

/* A leaf's text is whole. */
static int tl_http_list_leaf(tl_http_listing *l)
{
    tl_span value = tl_http_span(l->answer->names + l->start, l->used - l->start), bare = tl_http_trim(value);
    tl_http_leaf leaf = l->leaf;
    l->leaf = TL_HTTP_NO_LEAF;
    switch (leaf) {
    case TL_HTTP_KEY:
        if (l->encoded) {
            size_t n = tl_http_decode(l->answer->names + l->start, value.size, 0);
            if (n == (size_t)-1)
                return 0;
            l->used = l->start + n;
        }
        l->entry->key.size = l->lead.size + (l->used - l->start);
        return 1;
    case TL_HTTP_SIZE:
        return !l->has_size++ && tl_http_number(bare, &l->entry->size);
    case TL_HTTP_TAG: /* of GCS the generation is the version */
        if (!l->generation && value.size != 0)
            l->entry->etag = value;
        return 1;
    case TL_HTTP_GENERATION:
        l->generation = 1;
        l->entry->etag = bare;
        return 1;
    case TL_HTTP_TRUNCATED:
        if (l->truncated != -1)
            return 0;
        l->truncated = tl_http_is(bare, "true");
        return l->truncated || tl_http_is(bare, "false");
    case TL_HTTP_TOKEN:
        if (l->token.data != NULL)
            return 0;
        l->token = value;
        return 1;
    case TL_HTTP_ENCODING:
        l->url = tl_http_is(bare, "url");
        return l->url || bare.size == 0;
    default:
        return 1;
    }
}

static int tl_http_list_close(tl_http_listing *l)
{
    int entry = l->dialect == TL_HTTP_AZURE ? 3 : 2;
    if (l->leaf != TL_HTTP_NO_LEAF && !tl_http_list_leaf(l))
        return 0;
    if (l->entry != NULL && l->xml.depth == entry) {
        if (!l->has_key || !l->has_size)
            return 0;
        l->entry = NULL;
    }
    l->xml.depth--;
    return 1;
}

/* Keys decoded once, as the answer says; each begins as was asked for. */
static int tl_http_list_keys(tl_http_listing *l, tl_span prefix)
{
    tl_http_answer *a = l->answer;
    size_t i;
    for (i = 0; i < a->completion.entry_count; i++) {
        tl_entry *e = &a->entries[i];
        char *name = a->names + (e->key.data - a->names) + l->lead.size;
        size_t n = e->key.size - l->lead.size;
        if (l->url)
            n = tl_http_decode(name, n, 1);
        if (n == (size_t)-1 || !tl_http_utf8(tl_http_span(name, n)))
            return 0;
        e->key.size = l->lead.size + n;
        if (e->key.size < prefix.size || memcmp(e->key.data, prefix.data, prefix.size) != 0)
            return 0;
    }
    return 1;
}

/* Most entries that a body can have: each opens with one of these words. */
static size_t tl_http_list_most(tl_span body)
{
    size_t i, n = 0;
    for (i = 0; i + 4 < body.size; i++)
        n += (body.data[i] == 'C' && body.size - i >= 8 && memcmp(body.data + i, "Contents", 8) == 0)
             || (body.data[i] == 'B' && memcmp(body.data + i, "Blob", 4) == 0);
    return n;
}

/* 1 done, 0 not a listing, -1 no memory. */
static int tl_http_list_read(tl_http_listing *l, tl_span body, tl_span prefix)
{
    tl_http_answer *a = l->answer;
    size_t most = tl_http_list_most(body), room, n;
    if (most > (SIZE_MAX / 2 - body.size) / (l->lead.size + sizeof *a->entries + 1))
        return -1;
    room = body.size + most * l->lead.size + 1;
    a->entries = (tl_entry *)calloc(most + 1, sizeof *a->entries);
    a->names = (char *)malloc(room);
    if (a->entries == NULL || a->names == NULL)
        return -1;
    l->truncated = -1;
    tl_http_xml_begin(&l->xml, body);
    for (;;) {
        switch (tl_http_xml_next(&l->xml)) {
        case TL_HTTP_OPEN:
            if (!tl_http_list_open(l))
                return 0;
            break;
        case TL_HTTP_CHARS: /* never longer than it stands: there is room */
            if (!tl_http_xml_text(&l->xml, a->names + l->used, &n))
                return 0;
            if (l->leaf != TL_HTTP_NO_LEAF)
                l->used += n;
            break;
        case TL_HTTP_CLOSE:
            if (!tl_http_list_close(l))
                return 0;
            break;
        case TL_HTTP_END:
            if (l->dialect == TL_HTTP_AZURE || (l->dialect == TL_HTTP_GCS && l->truncated == -1))
                l->truncated = l->token.size != 0; /* fake-gcs-server says no more */
            if (l->truncated == -1 || (l->truncated && l->token.size == 0) || !tl_http_list_keys(l, prefix))
                return 0;
            a->completion.entries = a->entries;
            if (l->truncated)
                a->completion.next_page = l->token;
            return 1;
        default:
            return 0;
        }
    }
}

/* ---- a response as a completion ---- */

TL_API tl_span tl_http_header_value(tl_span head, const char *name)
{
    size_t n = strlen(name);
    while (head.size != 0) {
        const char *end = (const char *)memchr(head.data, '\n', head.size);
        size_t size = end != NULL ? (size_t)(end - head.data) : head.size;
        if (size > n && head.data[n] == ':' && tl_http_same(tl_http_span(head.data, n), name))
            return tl_http_trim(tl_http_span(head.data + n + 1, size - n - 1));
        head = tl_http_from(head, end != NULL ? size + 1 : size);
    }
    return tl_http_span(NULL, 0);
}

/* At most size - 1 printable bytes, and a zero. */
static void tl_http_copy(char *out, size_t size, tl_span s)
{
    size_t i, n = 0;
    for (i = 0; i < s.size && n + 1 < size; i++)
        out[n++] = (uint8_t)s.data[i] < 0x20 || s.data[i] == 0x7f ? ' ' : s.data[i];
    while (n != 0 && i < s.size && ((uint8_t)out[n - 1] & 0xC0) == 0x80) /* no half character */
        n--;
    if (n != 0 && i < s.size && (uint8_t)out[n - 1] >= 0xC0)
        n--;
    out[n] = 0;
}

/* Whether a text has the beginning of one of our secrets in it: some stores echo what they got, and texts are cut. */
static int tl_http_tells(const tl_http_store *s, const char *text)
{
    const char *const secrets[] = {s->secret_key, s->session_token, s->account_key, s->sas, s->bearer};
    char begins[13];
    size_t i;
    for (i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        snprintf(begins, sizeof begins, "%.12s", secrets[i] != NULL ? secrets[i] : "");
        if (begins[0] != 0 && strstr(text, begins) != NULL)
            return 1;
    }
    return 0;
}

/* Code and message of an error document; whatever else the body is leaves them empty. */
static void tl_http_error(tl_http_answer *a, tl_span body, char *message, size_t size)
{
    tl_http_xml x;
    char text[512];
    size_t n;
    message[0] = 0;
    if (body.size == 0)
        return;
    body.size = body.size < TL_HTTP_SAID ? body.size : TL_HTTP_SAID;
    tl_http_xml_begin(&x, body);
    for (;;) {
        tl_http_event event = tl_http_xml_next(&x);
        if (event == TL_HTTP_BAD || event == TL_HTTP_END)
            return;
        if (event == TL_HTTP_OPEN && x.depth == 1 && !tl_http_is(tl_http_xml_name(&x), "Error"))
            return;
        if (event == TL_HTTP_CLOSE)
            x.depth--;
        if (event != TL_HTTP_CHARS || x.depth != 2)
            continue;
        x.text.size = x.text.size < sizeof text ? x.text.size : sizeof text;
        if (!tl_http_xml_text(&x, text, &n))
            continue;
        if (tl_http_is(tl_http_xml_name(&x), "Code"))
            tl_http_copy(a->code, sizeof a->code, tl_http_trim(tl_http_span(text, n)));
        else if (tl_http_is(tl_http_xml_name(&x), "Message"))
            tl_http_copy(message, size, tl_http_trim(tl_http_span(text, n)));
        else if (tl_http_is(tl_http_xml_name(&x), "Region"))
            tl_http_copy(a->region, sizeof a->region, tl_http_trim(tl_http_span(text, n)));
    }
}

/* Code, message, region, clock: everything but the verdict. */
static void tl_http_hints(const tl_http_store *s, const tl_http_response *r, int body, tl_http_answer *a)
{
    tl_span value = tl_http_header_value(r->head, "date");
    int64_t date = value.data != NULL ? tl_http_parse_date(value) : INT64_MIN;
    char message[160];
    message[0] = 0;
    a->skew_ms = date != INT64_MIN ? date - r->now : INT64_MIN;
    if (r->status >= 300 || body)
        tl_http_error(a, r->body, message, sizeof message);
    value = tl_http_header_value(r->head, "x-ms-error-code");
    if (a->code[0] == 0 && r->status >= 300 && value.data != NULL)
        tl_http_copy(a->code, sizeof a->code, value);
    value = tl_http_header_value(r->head, "x-amz-bucket-region");
    if (a->region[0] == 0 && value.data != NULL)
        tl_http_copy(a->region, sizeof a->region, value);
    if (tl_http_tells(s, message) || tl_http_tells(s, a->code))
        message[0] = a->code[0] = 0;
    snprintf(a->text, sizeof a->text, "HTTP %d%s%s%s%s", r->status, a->code[0] != 0 ? " " : "", a->code,
             message[0] != 0 ? ": " : "", message);
    a->skewed = r->status == 403 && a->skew_ms != INT64_MIN
                && (strcmp(a->code, "RequestTimeTooSkewed") == 0 || a->skew_ms - s->skew_ms > 300000
                    || a->skew_ms - s->skew_ms < -300000);
}

static void tl_http_verdict(tl_http_answer *a, tl_outcome outcome)
{
    a->completion.outcome = outcome;
    if (outcome != TL_OUTCOME_OK)
        a->completion.text = tl_text(a->text);
}

static void tl_http_fail(tl_http_answer *a, const char *why)
{
    snprintf(a->text, sizeof a->text, "%s", why);
    tl_http_verdict(a, TL_OUTCOME_FAILED);
}

/* After how long to send anew: what Retry-After says, else a moment. */
static int64_t tl_http_delay(const tl_http_response *r)
{
    tl_span value = tl_http_header_value(r->head, "retry-after");
    uint64_t seconds = 0;
    int64_t date, ms = TL_HTTP_RETRY;
    if (value.data != NULL && tl_http_number(value, &seconds))
        ms = seconds < TL_HTTP_RETRY_MOST / 1000 ? (int64_t)seconds * 1000 : TL_HTTP_RETRY_MOST;
    else if (value.data != NULL && (date = tl_http_parse_date(value)) != INT64_MIN)
        ms = date - r->now;
    return ms < TL_HTTP_RETRY ? TL_HTTP_RETRY : ms < TL_HTTP_RETRY_MOST ? ms : TL_HTTP_RETRY_MOST;
}

static int tl_http_is_write(const tl_request *r)
{
    return r->kind == TL_PUT || r->kind == TL_DELETE;
}

/* What is the same for all requests: too busy, not implemented, not understood. */
static void tl_http_other(const tl_request *q, const tl_http_response *r, tl_http_answer *a)
{
    int busy = r->status == 429 || strcmp(a->code, "SlowDown") == 0 || strcmp(a->code, "RequestTimeout") == 0;
    if (r->status == 501 || r->status == 405) {
        tl_http_verdict(a, TL_OUTCOME_UNSUPPORTED);
    } else if (r->status >= 500 || r->status == 408 || r->status < 300) {
        /* Also of 503: with a proxy between, nobody knows whether the store has seen it. */
        tl_http_verdict(a, tl_http_is_write(q) ? TL_OUTCOME_UNKNOWN : TL_OUTCOME_FAILED);
        if (r->status >= 300)
            a->completion.retry_ms = tl_http_delay(r);
    } else {
        tl_http_verdict(a, TL_OUTCOME_FAILED);
        if (busy)
            a->completion.retry_ms = tl_http_delay(r);
        else if (a->skewed)
            a->completion.retry_ms = 0;
    }
}

/* 404 says that the object is not there, not the bucket. */
static int tl_http_is_missing(const tl_http_answer *a)
{
    static const char *const codes[] = {"", "NoSuchKey", "NoSuchVersion", "NotFound", "BlobNotFound", "404"};
    size_t i;
    for (i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(a->code, codes[i]) == 0)
            return 1;
    return 0;
}

/* The object's version: of GCS the generation, else the ETag byte for byte. */
static void tl_http_version(tl_http_dialect dialect, const tl_http_response *r, tl_http_answer *a)
{
    tl_span value = dialect == TL_HTTP_GCS ? tl_http_header_value(r->head, "x-goog-generation") : tl_http_span(NULL, 0);
    if (value.size == 0)
        value = tl_http_header_value(r->head, "etag");
    if (value.size != 0 && tl_http_clean(value))
        a->completion.etag = value;
}

/* `bytes first-last/size`, `bytes * /size`; size may be `*`. 0: something else. */
static int tl_http_content_range(tl_span s, uint64_t *first, uint64_t *count, uint64_t *size)
{
    size_t dash, slash;
    uint64_t last;
    if (!tl_http_begins(s, "bytes "))
        return 0;
    s = tl_http_from(s, 6);
    for (slash = 0; slash < s.size && s.data[slash] != '/'; slash++)
        continue;
    for (dash = 0; dash < slash && s.data[dash] != '-'; dash++)
        continue;
    if (slash == s.size)
        return 0;
    *size = TL_WHOLE;
    if (!tl_http_is(tl_http_from(s, slash + 1), "*") && !tl_http_number(tl_http_from(s, slash + 1), size))
        return 0;
    *first = *count = 0;
    if (tl_http_is(tl_http_span(s.data, slash), "*"))
        return 1;
    if (dash == slash || !tl_http_number(tl_http_span(s.data, dash), first)
        || !tl_http_number(tl_http_span(s.data + dash + 1, slash - dash - 1), &last) || last == UINT64_MAX)
        return 0;
    *count = last + 1 - *first;
    return *first <= last + 1 && last < *size;
}

/* 1: the bytes are not the object's but a compressed form that a server made of them. */
static int tl_http_is_packed(const tl_http_response *r)
{
    static const char *const codings[] = {"gzip", "x-gzip", "deflate", "br", "zstd", "compress"};
    tl_span value = tl_http_header_value(r->head, "content-encoding");
    size_t i;
    for (i = 0; value.data != NULL && i < sizeof codings / sizeof codings[0]; i++)
        if (tl_http_same(value, codings[i]))
            return 1;
    return 0;
}

/* The body of a 200 or 206. */
static void tl_http_body(const tl_request *q, const tl_http_response *r, tl_http_answer *a)
{
    tl_span range = tl_http_header_value(r->head, "content-range"), length;
    uint64_t first = 0, count = r->body.size, size = r->body.size, announced;
    length = tl_http_header_value(r->head, "content-length");
    if (length.data != NULL && tl_http_header_value(r->head, "transfer-encoding").data == NULL
        && (!tl_http_number(length, &announced) || announced != r->body.size)) {
        tl_http_fail(a, "the answer was cut off");
        a->completion.retry_ms = TL_HTTP_RETRY;
    } else if (tl_http_is_packed(r)) {
        tl_http_fail(a, "the server compressed the object on its way");
    } else if (range.data != NULL ? !tl_http_content_range(range, &first, &count, &size) : r->status == 206) {
        tl_http_fail(a, "an answer whose range cannot be told");
    } else if (count != r->body.size || first != (range.data != NULL ? q->offset : 0)
               || (range.data != NULL && count > q->length)) {
        tl_http_fail(a, "another range than was asked for");
    } else if (r->body.size > q->accept) {
        tl_http_fail(a, "the object is larger than the request accepts");
    } else {
        a->completion.body = r->body.data != NULL ? r->body : tl_http_span("", 0);
        a->completion.body_offset = first;
        a->completion.object_size = size;
        tl_http_verdict(a, TL_OUTCOME_OK);
    }
}

/* A range that begins behind the end: an object with no bytes there. */
static void tl_http_past_end(const tl_request *q, const tl_http_response *r, tl_http_answer *a)
{
    uint64_t first, count, size = TL_WHOLE;
    tl_span range = tl_http_header_value(r->head, "content-range");
    if (range.data != NULL && !tl_http_content_range(range, &first, &count, &size))
        size = TL_WHOLE;
    if (q->offset == 0) /* only an empty object has no byte 0 */
        size = 0;
    a->completion.body = tl_http_span("", 0);
    a->completion.body_offset = q->offset;
    a->completion.object_size = size;
    tl_http_verdict(a, TL_OUTCOME_OK);
}

static void tl_http_read_get(tl_http_dialect dialect, const tl_request *q, const tl_http_response *r, tl_http_answer *a)
{
    int ranged = q->offset != 0 || q->length != TL_WHOLE;
    tl_span length = tl_http_header_value(r->head, "content-length");
    uint64_t size;
    if (r->status == 200 || (r->status == 206 && ranged && q->kind == TL_GET)) {
        tl_http_version(dialect, r, a);
        if (q->kind == TL_STAT) {
            if (length.data != NULL && tl_http_number(length, &size) && !tl_http_is_packed(r))
                a->completion.object_size = size;
            tl_http_verdict(a, TL_OUTCOME_OK);
        } else if (q->condition == TL_IF_NONE_MATCH && dialect == TL_HTTP_GCS && q->etag.size != 0
                   && tl_span_equal(q->etag, a->completion.etag)) {
            tl_http_verdict(a, TL_OUTCOME_NOT_MODIFIED);
        } else {
            tl_http_body(q, r, a);
        }
    } else if (r->status == 304 && q->condition == TL_IF_NONE_MATCH) {
        tl_http_version(dialect, r, a);
        tl_http_verdict(a, TL_OUTCOME_NOT_MODIFIED);
    } else if (r->status == 404 && tl_http_is_missing(a)) {
        tl_http_verdict(a, TL_OUTCOME_NOT_FOUND);
    } else if (r->status == 416 && ranged && q->kind == TL_GET) {
        tl_http_past_end(q, r, a);
    } else {
        tl_http_other(q, r, a);
    }
}

/* Conflicts that decide nothing: AWS when requests meet; CoreWeave answers the loser of a race so. */
static int tl_http_is_conflict(const tl_http_answer *a)
{
    return a->code[0] == 0 || strcmp(a->code, "ConditionalRequestConflict") == 0
           || strcmp(a->code, "OperationAborted") == 0 || strcmp(a->code, "Conflict") == 0;
}

static void tl_http_read_put(tl_http_dialect dialect, const tl_request *q, const tl_http_response *r, tl_http_answer *a)
{
    int conditional = q->condition == TL_IF_ABSENT || q->condition == TL_IF_MATCH;
    int applied = r->status == 200 || r->status == 201 || (r->status == 204 && dialect == TL_HTTP_PLAIN);
    if (r->status == 204 && q->condition == TL_IF_ABSENT) { /* it replaced what was not to be there */
        tl_http_fail(a, "HTTP 204: the server ignores conditions");
        tl_http_verdict(a, TL_OUTCOME_UNSUPPORTED);
    } else if (applied && a->code[0] == 0) {
        tl_http_version(dialect, r, a);
        tl_http_verdict(a, TL_OUTCOME_OK);
    } else if (applied) { /* an error document with a good status */
        tl_http_verdict(a, TL_OUTCOME_UNKNOWN);
    } else if (conditional && (r->status == 412 || r->status == 304)) {
        tl_http_verdict(a, TL_OUTCOME_PRECONDITION);
    } else if (conditional && r->status == 409 && dialect == TL_HTTP_AZURE
               && strcmp(a->code, "BlobAlreadyExists") == 0) {
        tl_http_verdict(a, TL_OUTCOME_PRECONDITION);
    } else if (r->status == 409 && dialect != TL_HTTP_AZURE && dialect != TL_HTTP_PLAIN && tl_http_is_conflict(a)) {
        if (q->condition == TL_IF_MATCH) { /* what was to be replaced may be another by now */
            tl_http_verdict(a, TL_OUTCOME_PRECONDITION);
        } else {
            tl_http_verdict(a, TL_OUTCOME_FAILED);
            a->completion.retry_ms = tl_http_delay(r);
        }
    } else if (q->condition == TL_IF_MATCH && r->status == 404 && tl_http_is_missing(a)) {
        tl_http_verdict(a, TL_OUTCOME_PRECONDITION); /* gone */
    } else {
        tl_http_other(q, r, a);
    }
}

static void tl_http_read_list(tl_http_dialect dialect, const tl_request *q, const tl_http_response *r,
                              tl_http_answer *a)
{
    tl_http_listing l;
    size_t i;
    int done;
    if (r->status != 200 || a->code[0] != 0) {
        tl_http_other(q, r, a);
        if (r->status == 200)
            a->completion.retry_ms = TL_HTTP_RETRY; /* an error document */
        return;
    }
    memset(&l, 0, sizeof l);
    l.answer = a;
    l.dialect = dialect;
    for (i = 0; i + 3 <= q->key.size && memcmp(q->key.data + i, "://", 3) != 0; i++)
        continue;
    for (i += 3; i < q->key.size && q->key.data[i] != '/'; i++)
        continue;
    l.lead = tl_http_span(q->key.data, i < q->key.size ? i + 1 : q->key.size);
    if (r->body.size > TL_HTTP_LISTING) {
        tl_http_fail(a, "the listing is larger than 32 MiB");
        return;
    }
    done = tl_http_list_read(&l, r->body, q->key);
    if (done == 1) {
        tl_http_verdict(a, TL_OUTCOME_OK);
        return;
    }
    a->completion.entries = NULL;
    a->completion.entry_count = 0;
    tl_http_fail(a, done == 0 ? "malformed listing" : "no memory for the listing");
}

static void tl_http_read_delete(const tl_request *q, const tl_http_response *r, tl_http_answer *a)
{
    if (r->status == 200 || r->status == 202 || r->status == 204 || (r->status == 404 && tl_http_is_missing(a)))
        tl_http_verdict(a, TL_OUTCOME_OK);
    else
        tl_http_other(q, r, a);
}

TL_API uint64_t tl_http_most(const tl_request *request)
{
    return request->kind == TL_GET ? request->accept : request->kind == TL_LIST ? TL_HTTP_LISTING : TL_HTTP_SAID;
}

TL_API void tl_http_read(const tl_http_store *store, const tl_request *request, const tl_http_response *response,
                         tl_http_answer *answer)
{
    tl_http_dialect dialect = store->dialect != TL_HTTP_BY_SCHEME ? store->dialect : tl_http_scheme(request->key);
    memset(answer, 0, sizeof *answer);
    answer->completion = tl_completed(request->token, TL_OUTCOME_OK);
    answer->completion.retry_ms = -1;
    answer->skew_ms = INT64_MIN;
    if (response->status == 0) {
        tl_http_fail(answer, "no answer");
        answer->completion.retry_ms = TL_HTTP_RETRY;
        if (tl_http_is_write(request) && response->sent)
            answer->completion.outcome = TL_OUTCOME_UNKNOWN;
    } else {
        tl_http_hints(store, response, request->kind == TL_PUT || request->kind == TL_LIST, answer);
        if (request->kind == TL_GET || request->kind == TL_STAT)
            tl_http_read_get(dialect, request, response, answer);
        else if (request->kind == TL_LIST)
            tl_http_read_list(dialect, request, response, answer);
        else if (request->kind == TL_PUT)
            tl_http_read_put(dialect, request, response, answer);
        else if (request->kind == TL_DELETE)
            tl_http_read_delete(request, response, answer);
    }
    if (response->retried && tl_http_is_write(request) && answer->completion.outcome != TL_OUTCOME_OK) {
        answer->completion.outcome = TL_OUTCOME_UNKNOWN; /* the attempt before it may be what it met */
        answer->completion.text = tl_text(answer->text);
    }
}

TL_API void tl_http_answer_free(tl_http_answer *answer)
{
    free(answer->entries);
    free(answer->names);
    memset(answer, 0, sizeof *answer);
}
#endif /* TIMELAKE_HTTP_IMPLEMENTATION */
