package cron_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/axsched/ax/pluginapi/cron"
)

func Example() {
	s, err := cron.Parse("CRON_TZ=America/New_York 0 30 2 * * ?", cron.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Describe("en"))
	at := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for range 3 {
		at = s.Next(at) // 8 March has no 02:30
		fmt.Println(at)
	}
	// Output:
	// at 02:30 every day
	// 2026-03-07 02:30:00 -0500 EST
	// 2026-03-08 03:00:00 -0400 EDT
	// 2026-03-09 02:30:00 -0400 EDT
}

func ExampleParse_error() {
	_, err := cron.Parse("0 0 10 ？ * MON-FRI", cron.Options{})
	if e, ok := errors.AsType[*cron.Error](err); ok {
		fmt.Println("field:  ", e.Field)
		fmt.Println("text:   ", e.Text)
		fmt.Println("problem:", e.Problem)
		fmt.Println("hint:   ", e.Hint)
	}
	// Output:
	// field:   day of month
	// text:    ？
	// problem: has the character '？' (U+FF1F)
	// hint:    type the plain '?'
}

func ExampleParse_hash() {
	for _, task := range []string{"backup", "cleanup", "report"} {
		s, err := cron.Parse("H H(0-5) * * *", cron.Options{Hash: task})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(task, s.Describe("en"))
	}
	// Output:
	// backup at 00:38 every day
	// cleanup at 02:03 every day
	// report at 00:32 every day
}

func ExampleSchedule_Never() {
	s, err := cron.Parse("0 0 0 30 2 ?", cron.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Never())
	// Output: true
}

func ExampleSchedule_Prev() {
	s, err := cron.Parse("0 0 2 ? * FRIL", cron.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Prev(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)))
	// Output: 2026-02-27 02:00:00 +0000 UTC
}

func ExampleSchedule_Describe() {
	s, err := cron.Parse("0 0/15 9-17 ? * MON-FRI", cron.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Describe("en"))
	fmt.Println(s.Describe("zh"))
	// Output:
	// every 15 minutes from 09:00 to 17:59 on days from Monday to Friday
	// 周一至周五 09:00至17:59 每15分钟
}

func ExampleSchedule_Warnings() {
	s, err := cron.Parse("0 */40 * * * ?", cron.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range s.Warnings() {
		fmt.Println(w)
	}
	// Output: minute */40: the step starts anew with each turn of the field, so the last interval is shorter; for a steady period use an interval
}
