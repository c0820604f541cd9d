"""Runs the test cases of a file. Each case is a function that returns its result as text, or asserts."""
import sys


def run_cases(cases):
    """Those named after the program on the command line, else all; the exit code. Prints a line a case, then `N passed, N failed`."""
    failed = 0
    chosen = [case for case in cases if not sys.argv[2:] or case.__name__ in sys.argv[2:]]
    for case in chosen:
        try:
            print(f"ok    {case.__name__}: {'; '.join(case())}", flush=True)
        except (AssertionError, KeyError, IndexError, StopIteration) as wrong:
            failed += 1
            print(f"FAIL  {case.__name__}: {type(wrong).__name__} {wrong}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0
