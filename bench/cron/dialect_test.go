package main

import "testing"

func TestTranslation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ expr, sundayZero, quartz string }{
		{"0 0 2 ? * MON-FRI", "0 0 2 ? * MON-FRI", "0 0 2 ? * MON-FRI"},
		{"0 0 2 ? * 2-6", "0 0 2 ? * 1-5", "0 0 2 ? * 2-6"},
		{"0 0 2 ? * 1,7", "0 0 2 ? * 0,6", "0 0 2 ? * 1,7"},
		{"0 0 2 ? * 6L", "0 0 2 ? * 5L", "0 0 2 ? * 6L"},
		{"0 0 2 ? * 2#3", "0 0 2 ? * 1#3", "0 0 2 ? * 2#3"},
		{"0 0 2 ? * L", "0 0 2 ? * 6", "0 0 2 ? * L"},
		{"0 0 2 L * ?", "0 0 2 L * ?", "0 0 2 L * ?"},
		{"0 0 2 ? * 2/2", "0 0 2 ? * 1-6/2", "0 0 2 ? * 2/2"},
		{"0 0 2 ? * WED/2", "0 0 2 ? * WED-6/2", "0 0 2 ? * WED/2"},
		{"0 0 2 ? * 2-6/2", "0 0 2 ? * 1-5/2", "0 0 2 ? * 2-6/2"},
		{"0 0 2 ? * */2", "0 0 2 ? * */2", "0 0 2 ? * */2"},
		{"0 0 2 ? * 8", "0 0 2 ? * 8", "0 0 2 ? * 8"},
		{"/5 0 2,/6 * * ?", "*/5 0 2,*/6 * * ?", "*/5 0 2,*/6 * * ?"},
		{"0 0 2 1 1 ? */4", "0 0 2 1 1 ? 1970-2099/4", "0 0 2 1 1 ? */4"},
		{"0 2 * * 1-5", "0 2 * * 1-5", "0 0 2 ? * 2-6"},
		{"0 2 * * 0,7", "0 2 * * 0,7", "0 0 2 ? * 1,1"},
		{"0 2 1 * *", "0 2 1 * *", "0 0 2 1 * ?"},
		{"0 2 13 * 5", "0 2 13 * 5", "0 0 2 13 * 6"},
	} {
		x := parseExpression(tc.expr)
		if got := x.sundayZero().String(); got != tc.sundayZero {
			t.Errorf("%s with Sunday 0: %s, want %s", tc.expr, got, tc.sundayZero)
		}
		if got := x.quartz().String(); got != tc.quartz {
			t.Errorf("%s for Quartz: %s, want %s", tc.expr, got, tc.quartz)
		}
		if x.String() != tc.expr {
			t.Errorf("%s was changed to %s", tc.expr, x)
		}
	}
}
