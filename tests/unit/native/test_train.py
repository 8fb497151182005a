"""The C functions of training, compiled here with the sanitizers."""


def test_gains_and_refitted_counters(root, run, compiler, sanitizers, tmp_path):
    sources = [root / "native/tests/test_train.c", root / "native/rsk_train.c"]
    flags = ["-std=c99", "-Wall", "-Wextra", "-O1", "-ffp-contract=off", *sanitizers]
    run(compiler, *flags, f"-I{root / 'native'}", *sources, "-lm", "-o", tmp_path / "test_train")
    assert run(tmp_path / "test_train") == "test_train: ok\n"
