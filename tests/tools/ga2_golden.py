"""The golden files of tests/golden/ga2, for tests of the driver."""

import json

import driver

GOLDEN = driver.ROOT / "tests" / "golden" / "ga2"

def golden_names():
    return sorted(path.stem for path in GOLDEN.glob("*.json") if path.stem != "units")


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def path_of(name):
    return GOLDEN / f"{name}.json"


class Ga2Test(driver.DriverTest):
    def assert_near(self, found, wanted, where):
        """Equal in form; numbers to a relative 1e-12."""
        if isinstance(wanted, dict):
            self.assertEqual(sorted(found), sorted(wanted), where)
            for key, value in wanted.items():
                self.assert_near(found[key], value, f"{where}.{key}")
        elif isinstance(wanted, list):
            self.assertEqual(len(found), len(wanted), where)
            for i, value in enumerate(wanted):
                self.assert_near(found[i], value, f"{where}[{i}]")
        elif isinstance(wanted, float):
            self.assertLessEqual(abs(found - wanted), 1e-12 * max(1.0, abs(wanted)), where)
        else:
            self.assertEqual(found, wanted, where)
