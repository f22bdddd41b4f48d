"""Runs a user's model for a server: started by windjammer itself, with what it is to know as its only argument, as JSON."""

import sys

if sys.version_info < (3, 8):
    sys.stderr.write(
        "Version error: %s is Python %d.%d; a model in Python needs 3.8 or later\n"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(1)

# Whatever a model starts with multiprocessing loads this file once more.
if __name__ == "__main__":
    from windjammer_container.process import main

    # A model's imports are looked for in its own folder, not in this one.
    sys.path.pop(0)
    main(sys.argv.pop(1))
