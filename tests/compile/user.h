/* What the programs of this folder call, so that linking proves something. */
#ifndef USER_H
#define USER_H
#include "../../timelake.h"

/* 0 when the library answers as it should. */
int user_one(void);
int user_two(void);

/* A head in the json codec with an empty document of layout 1. */
#define USER_HEAD_SIZE (18 + sizeof("{\"properties\":{\"layout\":\"1\"},\"sections\":[]}") - 1)
#define USER_HEAD "TLHD\1\7\0\0\0\0\0\0\0\4json{\"properties\":{\"layout\":\"1\"},\"sections\":[]}"
#endif
