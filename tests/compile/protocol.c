/* What a program takes that asks of commits whether it may read and write their table, and nothing else: this object is
   what tools/size measures. TIMELAKE_STATIC: what is not used here is not compiled. */
#define TIMELAKE_STATIC
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_HEAD_JSON
#define TIMELAKE_NO_LAKE
#define TIMELAKE_NO_PROBE
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

int may_write(const void *commit, size_t size, const tl_client *client, const tl_protocol *before, tl_fault *fault);

int may_write(const void *commit, size_t size, const tl_client *client, const tl_protocol *before, tl_fault *fault)
{
    char name[96];
    tl_protocol p;
    tl_status status = tl_protocol_inspect(&p, commit, size, client, NULL, fault);
    if (status == TL_OK && before != NULL)
        status = tl_protocol_follows(before, &p, fault);
    if (status == TL_OK)
        status = tl_protocol_may_write(&p, client, fault);
    tl_protocol_free(&p);
    return status == TL_OK ? 0 : tl_fault_name(fault, name)[0];
}
