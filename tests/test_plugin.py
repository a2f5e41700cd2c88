"""The run modes of the plugin, end to end on a project whose kernel is plain Python."""


def test_plain_run_checks_drawn_shapes_and_runs_each_benchmark_once(project):
    """Without options a kernel is checked on drawn shapes, each benchmark case runs once, and nothing is timed."""
    result = project().runpytest("--roofline-on=cpu", "-v")
    result.assert_outcomes(passed=4, deselected=3)
    result.stdout.fnmatch_lines(["*test_drawn?negate/host/plain/f32/drawn? PASSED*"])
    result.stdout.no_fnmatch_line("*Rounds*Iterations*")


def test_correctness_only_never_collects_a_benchmark(project):
    """--correctness-only runs drawn and listed checks and deselects benchmarks."""
    result = project().runpytest("--roofline-on=cpu", "--correctness-only")
    result.assert_outcomes(passed=4, deselected=3)


def test_benchmark_only_without_a_gpu_times_nothing_and_says_so(project):
    """On a CPU --benchmark-only checks each case, looks at stored results, and states that nothing was timed."""
    result = project().runpytest("--roofline-on=cpu", "--benchmark-only", "-v")
    result.assert_outcomes(passed=4, deselected=4)
    result.stdout.fnmatch_lines(["*nothing is timed*", "*roofline-baselines PASSED*", "*no results are stored*"])


def test_a_benchmark_run_without_tests_prints_no_stored_results(project):
    """-k that fits nothing: results of other operations would look like an answer."""
    result = project().runpytest("--roofline-on=cpu", "--benchmark-only", "-k", "nosuch")
    assert result.ret == 5
    result.stdout.no_fnmatch_line("*stored results*")


def test_wrong_kernel_fails_with_a_line_that_reproduces_it(project):
    """A wrong kernel is shrunk to its smallest failing shape, and the printed line shows the failure again."""
    wrong = """
        def negate(x, y):
            torch.neg(x, out=y)
            if y.numel() > 3 and y.is_contiguous():
                y.view(-1)[3] += 1
    """
    pytester = project(wrong)
    result = pytester.runpytest("--roofline-on=cpu", "--correctness-only", "-k", "drawn")
    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(
        ["*y: 1 of 4 elements wrong*", "*reproduce: pytest '--roofline-case=negate/host/plain/f32/*"]
    )
    result.stdout.no_fnmatch_line("*During handling of the above exception*")
    line = next(x for x in result.outlines if "reproduce: pytest" in x).split("'")[1]
    again = pytester.runpytest("--roofline-on=cpu", line)
    again.assert_outcomes(failed=1, deselected=2)
    again.stdout.fnmatch_lines(["*y: 1 of 4 elements wrong*"])
