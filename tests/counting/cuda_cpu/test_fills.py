"""The pattern of uninitialised variables turned positive in assembly text."""

from __future__ import annotations

import pytest

from pytest_roofline.counting.cuda_cpu.fills import raised


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\tmovl\t$-16843010, %eax\n", "\tmovl\t$2122219134, %eax\n"),
        ("\t.long\t-16843010\n\t.long\t-16843010\n", "\t.long\t2122219134\n\t.long\t2122219134\n"),
        ("\t.long\t4278124286\n", "\t.long\t2122219134\n"),
        ("\tmovabsq\t$-72340172838076674, %rax\n", "\tmovabsq\t$9114861777597660798, %rax\n"),
        ("\tmovl\t$-258, %eax\n", "\tmovl\t$32382, %eax\n"),
        (
            "\tmovl\t$-2, %eax\n\tvmovd\t%eax, %xmm1\n\tvpbroadcastb\t%xmm1, %ymm1\n",
            "\tmovl\t$126, %eax\n\tvmovd\t%eax, %xmm1\n\tvpbroadcastb\t%xmm1, %ymm1\n",
        ),
    ],
)
def test_the_pattern_is_raised(line: str, expected: str) -> None:
    """Words of 2, 4 and 8 bytes and the byte that fills a vector."""
    assert raised(f"f:\n{line}", "f:\n\tret\n") == f"f:\n{expected}"


@pytest.mark.parametrize("line", ["\tmovl\t$-2, %eax\n", "\t.long\t-168430101\n", "\tmovl\t-16843010.5\n"])
def test_other_numbers_stay(line: str) -> None:
    """A lone -2 is a number of the program, and so is what merely begins like the pattern."""
    assert raised(line, "") == line


def test_the_programs_own_numbers_stay() -> None:
    """A number that is there without the pattern too belongs to the program."""
    assert raised("\tmovl\t$-16843010, %eax\n", "\tcmpl\t$-16843010, %ecx\n") == "\tmovl\t$-16843010, %eax\n"
