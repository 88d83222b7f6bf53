"""Streams, files, colour, signals and exit statuses of the built executable."""

import os
import pty
import signal
import subprocess
import time
import unittest

from program import COPY, PROGRAM, Case

LAUNCH = ("--device", "v100", "--grid", "16", "--block", "64", "--arg", "n=1024")


def on_terminal(args, env):
    """What the program writes when both of its streams are a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, *args], env)
    output = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    return output.decode()


class Manners(Case):
    def copy(self):
        return self.path("copy.cl", COPY)

    def test_a_command_and_flags_that_are_not_there(self):
        self.bad(2, "name a command: predict, explain")
        self.bad(2, "there is no use for v100", "devices", "gtx280", "v100")
        self.bad(2, "there is no use for main.cu; a further source file of the program goes behind --with", "predict", "k.cu", "main.cu", "--device", "v100")
        self.bad(2, "models has no flag --formt; did you mean --format", "models", "--formt", "json")

    def test_version_and_help_go_to_standard_output(self):
        self.assertRegex(self.good("--version"), r"^kernelcast \d+\.\d+\.\d+ \(LLVM 19\.\d+\.\d+\)\n$")
        for command in ((), ("predict",), ("explain",), ("advise",), ("report",), ("tune",), ("devices",), ("models",), ("validate",), ("check",), ("converge",), ("offload",),
                        ("probe",)):
            text = self.good(*command, "--help")
            self.assertIn("Example", text)
            self.assertIn("  kernelcast ", text)

    def test_help_lists_what_exists_and_nothing_else(self):
        text = self.good("--help")
        for command in ("predict", "explain", "tune", "devices", "models", "validate", "check", "converge", "probe", "offload", "advise", "report", "sweep", "mcp"):
            self.assertIn(f"\n  {command} ", text)

    def test_commands_of_the_python_package(self):
        """`kernelcast sweep` is the package's program kernelcast-sweep, with all words behind it; without the package it is said."""
        folder = os.path.dirname(self.path("kernelcast-sweep", '#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\nexit 7\n'))
        os.chmod(os.path.join(folder, "kernelcast-sweep"), 0o755)
        done = subprocess.run([PROGRAM, "sweep", "plan.toml", "-o", "a b", "--help"], env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "<plan.toml>\n<-o>\n<a b>\n<--help>\n", ""))
        done = subprocess.run([PROGRAM, "mcp"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("mcp is a command of the Python package", done.stderr)
        done = subprocess.run([PROGRAM, "mcp", "--help"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Needs the Python package", done.stdout)

    def test_usage_errors_are_two(self):
        self.bad(2, "name a command", )
        self.bad(2, "predcit", "predcit")
        self.bad(2, "--device", "predict", self.copy(), "--grid", "1", "--block", "1")
        self.bad(2, "FILE", "predict", *LAUNCH)

    def test_results_on_standard_output_messages_on_standard_error(self):
        warning = self.path("w.cu", "#warning look here\n__global__ void k(float* o) { o[threadIdx.x] = 1; }\n")
        result = self.run_program("predict", warning, "--device", "v100", "--grid", "1", "--block", "32")
        self.assertEqual(result.returncode, 0)
        self.assertIn("look here", result.stderr)
        self.assertNotIn("look here", result.stdout)
        self.assertIn("limited by", result.stdout)

    def test_formulas_that_fill_screens_are_cut(self):
        """Divisions by arguments nest; an address of 20,000 characters tells a person nothing."""
        index = "in[((i - i % m) / m % n * m + (i - i % m) / m / n + i % m / n % (n * m)) / (m + n)]"
        nested = self.path("nested.cu", f"__global__ void k(const float* in, float* out, int n, int m) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = {index}; }}")
        launch = ("--device", "a100", "--grid", "64", "--block", "64", "--arg", "n=64", "--arg", "m=8")
        text = self.good("explain", nested, *launch)
        self.assertLess(max(map(len, text.splitlines())), 500)
        self.assertIn("characters; all in --format json)", text)
        self.assertIn("out + 4*", text)

    def test_no_colour_and_no_progress_without_a_terminal(self):
        result = self.run_program("predict", self.copy(), *LAUNCH)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")

    def test_colour_on_a_terminal_unless_no_color(self):
        env = {"TERM": "xterm", "PATH": "/usr/bin:/bin"}
        args = ("predict", self.copy(), *LAUNCH)
        self.assertIn("\x1b[1m", on_terminal(args, env))
        self.assertNotIn("\x1b[1m", on_terminal(args, {**env, "NO_COLOR": "1"}))
        self.assertNotIn("\x1b", on_terminal(args, {**env, "TERM": "dumb"}))

    def test_output_file_is_the_text_of_standard_output(self):
        path = self.path("out.txt")
        self.assertEqual(self.good("models", "-o", path), "")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.good("models"))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o666 & ~self.umask())
        self.assertEqual(os.listdir(self.folder), ["out.txt"])

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_a_failure_leaves_the_old_output_file(self):
        path = self.path("out.json", "old\n")
        broken = self.path("broken.cl", "__kernel void k( {\n")
        self.bad(1, "error", "predict", broken, *LAUNCH, "-o", path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["broken.cl", "out.json"])

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "models"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)

    def test_a_closed_pipe_is_none(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        result = subprocess.run([PROGRAM, "devices"], stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
        os.close(write_end)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_interrupt_is_130(self):
        with subprocess.Popen(
            [PROGRAM, "predict", "-", "--lang", "opencl", *LAUNCH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            time.sleep(0.5)  # it waits for its standard input
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=20), 130)

    def test_devices_folder_from_flag_and_environment(self):
        self.path("one.toml", "")
        self.bad(1, "one.toml", "devices", "one", "--devices-dir", self.folder)
        self.bad(1, "one.toml", "devices", "one", env={"KERNELCAST_DEVICES": self.folder})
        self.bad(2, "nowhere", "devices", env={"KERNELCAST_DEVICES": self.path("nowhere")})

    def test_an_assembler_is_run_when_it_is_named(self):
        self.bad(2, r"--ptxas /no/such/ptxas: there is no program", "predict", self.copy(), *LAUNCH, "--ptxas", "/no/such/ptxas")
        self.bad(2, r"there is no program of this name that can be run", "predict", self.copy(), *LAUNCH, "--ptxas", self.copy())
        script = self.path("ptxas", "#!/bin/sh\necho it was asked\nexit 1\n")
        os.chmod(script, 0o755)
        with_it = self.good("explain", self.copy(), *LAUNCH, "--ptxas", script)
        self.assertIn("NVIDIA's code of copy: ptxas says: it was asked = counts of PTX  [--ptxas]", with_it)
        without = self.good("explain", self.copy(), *LAUNCH)
        self.assertNotIn("ptxas says", without)
        self.assertTrue(with_it.startswith(without.rstrip("\n")))

    def test_the_same_command_gives_the_same_bytes(self):
        args = ("explain", self.copy(), *LAUNCH, "--format", "json")
        self.assertEqual(self.good(*args), self.good(*args))


if __name__ == "__main__":
    unittest.main()
