//go:build !race

package alert_test

const slowed = false
