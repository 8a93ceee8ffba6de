// Figures of a tile that codelets build on.
#pragma once

// Worker contexts of a tile.
#define CTXT_WORKERS 6
// Bytes of scratch memory that each of them has.
#define WORKER_SCRATCH_SIZE 48
