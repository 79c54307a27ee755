"""Temporary files do not outlive their process: signals, kills and forks of real processes."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from keeptree.temporary import is_temporary, remove_leftovers, temporary_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def start(folder, code):
    """Start a Python process that runs the code; return once it has printed "ready"."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


WRITING = """
    import signal, sys, time
    from keeptree.output import replacing

    # The process that starts the tests may ignore signals, as nohup does; children inherit this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with replacing(sys.argv[1] + "/page.html") as temporary:
        temporary.write_text("half")
        print("ready", flush=True)
        # Short sleeps, because a signal just before a sleep is handled only after it.
        for _ in range(1200):
            time.sleep(0.05)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_process_and_leaves_the_old_file_alone(name, tmp_path):
    (tmp_path / "page.html").write_text("old")
    process = start(tmp_path, WRITING)
    assert len(list(tmp_path.iterdir())) == 2
    process.send_signal(getattr(signal, name))
    # The exit status is that of the signal, so the parent can see what ended the process.
    assert process.wait(30) == -getattr(signal, name)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "old"


def test_files_of_a_killed_process_are_removed_by_the_next_run(tmp_path):
    (tmp_path / "page.html").write_text("old")
    (tmp_path / ".keeptree-not-ours.tmp").write_text("of somebody else")
    process = start(tmp_path, WRITING)
    process.kill()
    process.wait(30)
    assert len(list(tmp_path.iterdir())) == 3
    assert (tmp_path / "page.html").read_text() == "old"
    with temporary_file(tmp_path):
        pass
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".keeptree-not-ours.tmp", "page.html"]


def test_files_of_a_running_process_or_of_another_machine_are_kept(tmp_path):
    process = start(tmp_path, WRITING)
    try:
        (running,) = [path for path in tmp_path.iterdir() if is_temporary(path)]
        place = running.name.split("-")[1]
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait(30)
        elsewhere = tmp_path / f".keeptree-{'0' * 8}-{ended.pid}-{'0' * 16}.tmp"
        here = tmp_path / f".keeptree-{place}-{ended.pid}-{'0' * 16}.tmp"
        for path in (elsewhere, here):
            path.write_text("")
        remove_leftovers(tmp_path)
        assert running.exists()
        assert elsewhere.exists()
        assert not here.exists()
    finally:
        process.terminate()
        process.wait(30)


def test_a_signal_handler_of_the_program_is_left_in_place(tmp_path):
    code = """
        import signal, sys, time
        from keeptree.output import replacing

        def stop(*_):
            raise SystemExit(7)

        signal.signal(signal.SIGTERM, stop)
        with replacing(sys.argv[1] + "/page.html") as temporary:
            print("ready", flush=True)
            for _ in range(1200):
                time.sleep(0.05)
    """
    process = start(tmp_path, code)
    process.terminate()
    assert process.wait(30) == 7
    assert list(tmp_path.iterdir()) == []


def test_a_forked_child_leaves_the_files_of_its_parent_alone(tmp_path):
    code = """
        import os, signal, sys, time
        from keeptree.output import replacing

        with replacing(sys.argv[1] + "/page.html") as temporary:
            temporary.write_text("new")
            alive, tell = os.pipe()
            child = os.fork()
            if child == 0:
                os.write(tell, b"x")
                for _ in range(1200):
                    time.sleep(0.05)
                os._exit(1)
            os.read(alive, 1)  # a signal before Python has finished the fork would be lost
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
        print("ready", flush=True)
    """
    assert start(tmp_path, code).wait(30) == 0
    assert (tmp_path / "page.html").read_text() == "new"


def test_signal_handlers_are_installed_only_while_a_file_is_open(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with temporary_file(tmp_path), temporary_file(tmp_path):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_file_never_takes_an_existing_name(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 2 * n)
    with temporary_file(tmp_path) as (path, _):
        with pytest.raises(FileExistsError), temporary_file(tmp_path):
            pass
        assert path.exists()
