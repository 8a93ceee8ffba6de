/* Which layouts of vectors the target has: codelets ask before using one. The
   host keeps full pointers for all, so it has all. */
#pragma once

#define VECTOR_AVAIL_SHORT_SPAN
#define VECTOR_AVAIL_SCALED_PTR32
#define VECTOR_AVAIL_SCALED_PTR64
#define VECTOR_AVAIL_SCALED_PTR128
#define VECTORLIST_AVAIL_DELTAN
#define VECTORLIST_AVAIL_DELTANELEMENTS
