/* Texts of the files that `make install` writes: the manual page and shell completions. Private to app/. */
#ifndef SDRS_APP_MANUAL_H
#define SDRS_APP_MANUAL_H

#include "app/app.h"

/* Appends the manual page sdrs(1), in roff. */
void manual_man(Text* out);
/* Appends the completion script for bash. */
void manual_bash(Text* out);
/* Appends the completion script for zsh. */
void manual_zsh(Text* out);

#endif
