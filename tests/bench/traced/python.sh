# needs: python3
python3 -c 'import pathlib, subprocesses; subprocesses.test_it(pathlib.Path())'
