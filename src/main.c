/* argv -> command -> exit code. */
#include "app/app.h"

int main(int argc, char** argv) { return (int)app_run(argc, argv); }
