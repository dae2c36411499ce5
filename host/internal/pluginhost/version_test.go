package pluginhost

import "testing"

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	// In rising order; the first seven are the example of semver.org.
	rising := []string{
		"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-0", "2.0.0",
	}
	for i, a := range rising {
		for j, b := range rising {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareVersions(a, b); got != want {
				t.Errorf("compareVersions(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
	if compareVersions("1.0.0+a", "1.0.0+b") != 0 {
		t.Error("build metadata counts")
	}
}
