// Numbers that encodings and losses agree on.
#pragma once

// A label that stands for no class.
#define MASKED_LABEL_CODE 0xFFFFFFFFU

// The smallest values whose logarithm losses take, by type.
#define EPS_LOG_N_FLOAT (1.17549435e-38F)
#define EPS_LOG_N_HALF (5.9605e-8F)
