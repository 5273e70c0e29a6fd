#include "runtime.h"

_Thread_local const void *_Nullable opencoredata_entityOfNextObject = 0;
