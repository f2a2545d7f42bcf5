"""The command as it is asked in a folder of its own."""
import subprocess


class Asked:
    def __init__(self, etalon, folder, check):
        self.etalon, self.folder, self.check = etalon, folder, check

    def run(self, *words):
        return subprocess.run([self.etalon, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=self.folder)

    def answers(self, status, parts, *words):
        """The status, and what standard output says."""
        done = self.run(*words)
        self.check(done.returncode == status and done.stderr == "" and all(part in done.stdout for part in parts), f"{words}: {done}")
        return done.stdout

    def refused(self, lines, *words):
        """Exit status 2, these lines, and nothing written."""
        before = sorted(p.name for p in self.folder.iterdir())
        done = self.run(*words)
        self.check((done.returncode, done.stdout, done.stderr.splitlines()) == (2, "", lines), f"{words}: {done}")
        self.check(sorted(p.name for p in self.folder.iterdir()) == before, f"{words}: something was written")
