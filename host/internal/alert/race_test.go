//go:build race

package alert_test

// slowed: the race detector makes the database some ten times slower, so the long
// tests are shorter.
const slowed = true
