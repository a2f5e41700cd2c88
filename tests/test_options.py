"""One behaviour per option, and the right exit code for what makes no sense."""

import pytest

CPU = "--roofline-on=cpu"
USAGE = 4


def test_correctness_only_and_benchmark_only_exclude_each_other(project):
    """Asking for both is a usage error that says why."""
    result = project().runpytest(CPU, "--correctness-only", "--benchmark-only")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*--correctness-only and --benchmark-only exclude each other*"])


def test_update_needs_a_benchmark_run(project):
    """Storing a baseline from a run that times nothing is refused."""
    result = project().runpytest(CPU, "--roofline-update")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*--roofline-update stores a benchmark run: it needs --benchmark-only*"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--roofline-on=tpu", "*--roofline-on: invalid choice: 'tpu'*"),
        ("--roofline-effort=more", "*--roofline-effort: invalid choice: 'more'*"),
        ("--roofline-profile=x", "*--roofline-profile: invalid choice: 'x'*"),
        ("--roofline-ceilings=x", "*--roofline-ceilings: invalid choice: 'x'*"),
        ("--roofline-timeout=-1", "*--roofline-timeout must be a positive number of seconds, got -1.0*"),
        ("--roofline-timeout=nan", "*--roofline-timeout must be a positive number of seconds, got nan*"),
        ("--roofline-timeout=inf", "*--roofline-timeout must be a positive number of seconds, got inf*"),
        ("--roofline-timeout=soon", "*--roofline-timeout: invalid float value: 'soon'*"),
        ("--roofline-case=negate", "*--roofline-case: bad case id 'negate'*"),
        ("--roofline-case=negate/host/plain/f32/3x3@nan#x", "*bad seed 'x'*"),
        ("--roofline-case=negate/host/plain/f32/9", "*/f32/9: a shape of negate has 2 extents, such as *"),
        (
            "--roofline-case=negate/host/plain/f32/3x3@nan#4294967296",
            "*bad seed '4294967296'*SEED from 0 to 4294967295*",
        ),
        ("--roofline-case=negate/host/plain/f32/3x3@nonsense", "*has no values 'nonsense'; it has random, *"),
        ("--roofline-ceilings=measure", "*--roofline-ceilings=measure needs a GPU*"),
        ("--roofline-baselines=nowhere", "*--roofline-baselines=nowhere: there is no folder *nowhere*"),
        ("--roofline-baselines=tox.ini", "*baselines are a folder, but *tox.ini is none*"),
    ],
)
def test_a_wrong_value_is_a_usage_error_that_names_it(project, option, message):
    """Every option refuses values it does not know with exit code 4."""
    result = project().runpytest(CPU, option)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([message])


CUDA = 'Kernel("cuda", "plain", "{module}:negate", ("f32",), best=True),'
HUGE = "negate/cuda/plain/f32/1048576x4096"


def test_a_check_that_would_take_hours_on_a_cpu_is_refused(project):
    """With how long, what to run instead, and exit code 4; nobody finds out by waiting."""
    result = project(kernels=CUDA).runpytest(CPU, f"--roofline-case={HUGE}")
    assert result.ret == USAGE
    words = [f"*without a GPU {HUGE} would run for about 15 minutes*", "*a smaller shape, such as 8x8.o1*"]
    result.stderr.fnmatch_lines(["".join(words)])


def test_a_check_that_takes_minutes_on_a_cpu_is_announced(project):
    """Before it runs, in the head of the session."""
    case = "negate/cuda/plain/f32/131072x4096"
    result = project(kernels=CUDA).runpytest(CPU, f"--roofline-case={case}", "--collect-only")
    result.stdout.fnmatch_lines([f"roofline: {case} will run for about 113 seconds here"])


def test_a_shape_for_a_gpu_is_only_compiled(project):
    """Under --benchmark-only a case asked for by name is what it is without a name; the head says so."""
    result = project(kernels=CUDA).runpytest(CPU, "--benchmark-only", f"--roofline-case={HUGE}", "--collect-only")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"roofline: {HUGE}: its shape is for a GPU, so it is only compiled*"])


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("negate/host/fast/f32/3x3", "*no kernel host/fast; it has host/plain*"),
        ("nothing/host/plain/f32/3x3", "*there is no operation nothing; known are negate*"),
    ],
)
def test_a_case_that_does_not_exist_is_refused(project, case, message):
    """--roofline-case with an unknown case says what exists and runs nothing."""
    result = project().runpytest(CPU, f"--roofline-case={case}")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([message])


def test_case_runs_exactly_the_checks_it_names(project):
    """--roofline-case may be repeated and takes values and seed; nothing else runs."""
    wanted = ["--roofline-case=negate/host/plain/f32/2x3@nan#5", "--roofline-case=negate/host/plain/f32/0x1"]
    result = project().runpytest(CPU, *wanted, "-v")
    result.assert_outcomes(passed=2, deselected=4)
    result.stdout.fnmatch_lines(["*negate/host/plain/f32/2x3*PASSED*", "*negate/host/plain/f32/0x1*PASSED*"])


def test_gpu_demanded_on_a_machine_without_one(project, monkeypatch):
    """--roofline-on=gpu never falls back: without a GPU it is a usage error with the reason."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = project().runpytest_subprocess("--roofline-on=gpu")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*--roofline-on=gpu, but there is no GPU here: *"])


def test_spawn_contains_a_crash(project):
    """With --roofline-spawn a kernel that kills its process is one failing test, and pytest goes on."""
    crash = """
        def negate(x, y):
            import os
            os.abort()
    """
    result = project(crash).runpytest(CPU, "--roofline-spawn", "-k", "7x9 and listed", "--correctness-only")
    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(["*crashed*", "*signal SIGABRT*"])


def test_an_unloadable_operation_file_fails_by_name(project):
    """An operation file with an error in it is a failing test that names the file, in every mode."""
    pytester = project()
    (pytester.path / "operations" / "sketch.py").write_text("import nothing_like_this")
    for mode in ("--correctness-only", "--benchmark-only"):
        result = pytester.runpytest(CPU, mode)
        assert result.ret == 1
        result.stdout.fnmatch_lines(["*sketch.py could not be loaded:*", "*No module named 'nothing_like_this'*"])


def test_a_missing_operations_directory_is_a_usage_error(pytester, imported_once):
    """A misspelt ini value is refused, never taken for an empty project."""
    pytester.makeini("[pytest]\naddopts = -p pytest_roofline.plugin\nroofline_operations = nowhere\n")
    pytester.makepyfile("def test_one(roofline_case): pass")
    result = pytester.runpytest(CPU)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*roofline_operations names 'nowhere'*"])


@pytest.mark.parametrize("mark", ["", "'hot'", "'drawn', 'timed'", "which='drawn'"])
def test_unknown_marker_arguments_are_refused(project, mark):
    """The roofline marker takes exactly one known list."""
    pytester = project()
    pytester.makepyfile(
        test_suite=f"""
        import pytest
        @pytest.mark.roofline({mark})
        def test_marked(roofline_case): pass
    """
    )
    result = pytester.runpytest(CPU)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*bad marker roofline*it takes one of 'drawn', 'listed', 'timed'*"])


def test_ids_are_the_same_under_xdist(project):
    """Distributed workers collect the same ids, so a run on two processes passes."""
    pytest.importorskip("xdist")
    project().runpytest_subprocess(CPU, "-n", "2").assert_outcomes(passed=4)


def test_a_project_without_operations_is_left_alone(pytester, monkeypatch):
    """The plugin prints nothing and detects nothing in a project that does not use it."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    pytester.makeini("[pytest]\naddopts = -p pytest_roofline.plugin\n")
    pytester.makepyfile("import os\ndef test_one(): assert 'TRITON_INTERPRET' not in os.environ")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*roofline:*")


def test_cases_without_operations_are_a_usage_error(project):
    """Tests over cases in a project that names no operation files would otherwise be skipped, which looks well."""
    pytester = project()
    pytester.makeini("[pytest]\naddopts = -p pytest_roofline.plugin\n")
    result = pytester.runpytest(CPU)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*runs over operations, but there are none: the ini option roofline_operations*"])
    assert pytester.runpytest(CPU, "--roofline-case=negate/host/plain/f32/3x3").ret == USAGE


def test_a_failure_is_shown_again_by_a_suite_without_a_test_of_listed_cases(project):
    """The line that a failure prints works in the smallest suite, too, and only runs that case."""
    pytester = project()
    pytester.makepyfile(
        test_suite="""
        import pytest
        @pytest.mark.roofline("drawn")
        def test_drawn(roofline_case, roofline_check):
            roofline_check(roofline_case)
    """
    )
    pytester.runpytest(CPU, "--roofline-case=negate/host/plain/f32/3x3@nan#3").assert_outcomes(passed=1)


def test_a_benchmark_run_takes_no_values(project):
    """Times are of random data; values that would be ignored are refused."""
    pytester, case = project(), "--roofline-case=negate/host/plain/f32/3x3"
    assert pytester.runpytest(CPU, "--benchmark-only", case).ret == 0
    result = pytester.runpytest(CPU, "--benchmark-only", f"{case}@nan#3")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*--benchmark-only times random values*"])


@pytest.mark.parametrize("where", ["command line", "ini", "environment"])
def test_what_a_replay_cannot_honour_is_refused_wherever_it_is_written(project, monkeypatch, where):
    """An option that would be ignored is a usage error, also in addopts and PYTEST_ADDOPTS."""
    pytester, option = project(), "--benchmark-min-rounds=3"
    if where == "ini":
        path = pytester.path / "tox.ini"
        path.write_text(path.read_text().replace("addopts =", f"addopts = {option}"))
    if where == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", option)
    result = pytester.runpytest(CPU, "--benchmark-only", *([option] if where == "command line" else []))
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["*--benchmark-min-rounds cannot be honoured*"])


@pytest.mark.parametrize(
    ("arguments", "interpret", "why"),
    [
        (["--roofline-on=cpu"], "", "--roofline-on=cpu, so nothing is timed"),
        ([], "1", "TRITON_INTERPRET=1 is set, so nothing is timed"),
    ],
)
def test_why_nothing_is_timed_is_told(project, monkeypatch, arguments, interpret, why):
    """A machine with a GPU is never said to have none."""
    monkeypatch.setenv("TRITON_INTERPRET", interpret)
    project().runpytest("--benchmark-only", *arguments).stdout.fnmatch_lines([f"roofline: {why}*"])
