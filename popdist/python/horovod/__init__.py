"""As much of Horovod as PopTorch programs use beside PopDist, over PopDist's
backend. A Horovod that is installed otherwise comes after the SDK's folder."""
