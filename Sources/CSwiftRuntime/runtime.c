#include "runtime.h"

_Bool opencoredata_hasMainContexts = 0;
_Thread_local void *_Nullable opencoredata_waitingReleases = 0;
_Thread_local const void *_Nullable opencoredata_entityOfNextObject = 0;
