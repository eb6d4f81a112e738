/* What a program takes that follows numbered objects by the probe, and nothing else: this object is what tools/size
   measures. TIMELAKE_STATIC: what is not used here is not compiled. */
#define TIMELAKE_STATIC
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_HEAD_JSON
#define TIMELAKE_NO_LAKE
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

int probe_alone(tl_probe *probe, tl_probe_call *call, int what, uint64_t id, tl_span text, tl_buffer *out);
tl_turn probe_alone_step(tl_probe_call *call, tl_request *request, const tl_completion *completion, const tl_io *io);

/* Every call there is, and the counters as text. */
int probe_alone(tl_probe *probe, tl_probe_call *call, int what, uint64_t id, tl_span text, tl_buffer *out)
{
    switch (what) {
    case 0: return (int)tl_probe_init(probe, tl_slatedb_manifests(), text, NULL);
    case 1: return (int)tl_probe_init(probe, tl_slatedb_compactions(), text, NULL);
    case 2: tl_probe_free(probe); break;
    case 3: tl_probe_latest(call, probe); break;
    case 4: tl_probe_latest_unchecked(call, probe); break;
    case 5: tl_probe_write(call, probe, id, text); break;
    case 6: tl_probe_write_unchecked(call, probe, id, text); break;
    case 7: tl_probe_delete(call, probe, id); break;
    case 8: tl_probe_delete_unchecked(call, probe, id); break;
    case 9: tl_probe_check(call, probe, id); break;
    case 10: tl_probe_advance(call, probe, id); break;
    case 11: tl_probe_read_id(call, probe, id); break;
    case 12: tl_probe_list(call, probe, 0, id); break;
    default: return (int)tl_probe_counters_text(out, probe->options->counters, text, NULL);
    }
    return 0;
}

/* Both ways of driving it, and how it ended. */
tl_turn probe_alone_step(tl_probe_call *call, tl_request *request, const tl_completion *completion, const tl_io *io)
{
    if (request == NULL && completion == NULL && io == NULL)
        tl_cancel(&call->op, 0);
    if (io != NULL)
        (void)tl_start(&call->op, io, 0);
    if (completion != NULL)
        (void)tl_complete(&call->op, completion, 0);
    if (request != NULL)
        return tl_step(&call->op, 0, request);
    if (tl_op_status(&call->op) != TL_OK && tl_op_error(&call->op)->text == NULL)
        (void)tl_deadline(&call->op);
    return tl_op_end(&call->op) == TL_OK ? TL_DONE : TL_FAILED;
}
