"""A process that answers commands, stopped except while it answers.

Stopping it keeps threads that spin between calls off the other's cores.
"""

import json
import os
import signal
import subprocess


class Process:
    """Takes a JSON object per line on its input, answers each with a line."""

    def __init__(self, command: list, environment: dict, stderr=None):
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=stderr, text=True,
            env={**os.environ, **environment})
        self.stopped = False

    def ask(self, **command):
        if self.stopped:
            self.process.send_signal(signal.SIGCONT)
        print(json.dumps(command), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args} ended with "
                               f"{self.process.wait()}; its message is above")
        self.process.send_signal(signal.SIGSTOP)
        self.stopped = True
        return json.loads(answer)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()
