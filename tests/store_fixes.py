"""Store what `fix` proposes and tells of the cases in `fix_cases`: run it after a change of words, and read what differs."""

from fix_cases import STORED

if __name__ == "__main__":
    for path, cases in STORED.items():
        path.write_text("\n".join(f"=== {title}\n{find()}\n" for title, find in cases.items()), encoding="utf-8")
