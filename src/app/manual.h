/* What `make install` installs beside the program. Private to app/. */
#ifndef SDRS_APP_MANUAL_H
#define SDRS_APP_MANUAL_H

#include "app/app.h"

void manual_man(Text* out);  /* sdrs(1) */
void manual_bash(Text* out); /* completion */
void manual_zsh(Text* out);

#endif
