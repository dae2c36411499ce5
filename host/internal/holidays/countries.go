package holidays

import (
	"sync"
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/us"

	"github.com/axsched/ax/pluginapi/calendar"
)

// countrySource is what a day of a country names as its source.
const countrySource = "rickar/cal v2.1.13, computed from the laws of 2023"

// The years that are computed. Laws change: this is no promise.
const (
	countryFrom = 2000
	countryTo   = 2050
)

// country is a source of one country or of a part of it.
type country struct {
	code, name string
	days       []*cal.Holiday
}

// countries are those of the library whose weekdays agree with a second list
// (date-holidays 3.37.0 of npm) in each year from 2024 to 2032. Others that it
// has do not: its newest laws are of April 2023.
func countries() []country {
	return append([]country{
		{"at", "Austria", at.Holidays},
		{"be", "Belgium", be.Holidays},
		{"cz", "Czechia", cz.Holidays},
		{"de", "Germany", de.Holidays},
		{"es", "Spain", es.Holidays},
		{"fr", "France", fr.Holidays},
		{"gb", "England", gb.Holidays},
		{"gr", "Greece", gr.Holidays},
		{"hr", "Croatia", hr.Holidays},
		{"ie", "Ireland", ie.Holidays},
		{"jp", "Japan", jp.Holidays},
		{"lt", "Lithuania", lt.Holidays},
		{"no", "Norway", no.Holidays},
		{"si", "Slovenia", si.Holidays},
		{"us", "United States", us.Holidays},
	}, germanStates()...)
}

// germanStates leaves out Mecklenburg-Vorpommern, whose law changed in 2023.
func germanStates() []country {
	return []country{
		{"de-bb", "Brandenburg", de.HolidaysBB},
		{"de-be", "Berlin", de.HolidaysBE},
		{"de-bw", "Baden-Württemberg", de.HolidaysBW},
		{"de-by", "Bayern", de.HolidaysBY},
		{"de-hb", "Bremen", de.HolidaysHB},
		{"de-he", "Hessen", de.HolidaysHE},
		{"de-hh", "Hamburg", de.HolidaysHH},
		{"de-ni", "Niedersachsen", de.HolidaysNI},
		{"de-nw", "Nordrhein-Westfalen", de.HolidaysNW},
		{"de-rp", "Rheinland-Pfalz", de.HolidaysRP},
		{"de-sh", "Schleswig-Holstein", de.HolidaysSH},
		{"de-sl", "Saarland", de.HolidaysSL},
		{"de-sn", "Sachsen", de.HolidaysSN},
		{"de-st", "Sachsen-Anhalt", de.HolidaysST},
		{"de-th", "Thüringen", de.HolidaysTH},
	}
}

// useUTC lets the library compute in UTC. The machine's zone may have days
// without a midnight, whose weekday comes out wrong.
var useUTC = sync.OnceFunc(func() { cal.DefaultLoc = time.UTC })

// calendar returns Monday to Friday without the holidays. One that falls on a
// weekend is closed, and so is the day on which it is made up for.
func (c country) calendar() (*calendar.Calendar, error) {
	useUTC()
	spec := calendar.Spec{Name: c.code, Weekly: mondayToFriday()}
	for year := countryFrom; year <= countryTo; year++ {
		for _, h := range c.days {
			actual, observed := h.Calc(year)
			if actual.IsZero() {
				continue
			}
			spec.Closed = append(spec.Closed, c.rule(h, actual, year))
			if !observed.Equal(actual) {
				spec.Closed = append(spec.Closed, c.rule(h, observed, year))
			}
		}
	}
	return calendar.New(spec)
}

func (c country) rule(h *cal.Holiday, at time.Time, year int) calendar.Rule {
	rule := calendar.OnDate(calendar.DateOf(at))
	rule.Name, rule.Source = h.Name, countrySource
	if at.Year() == year { // New Year may be made up for in the year before
		rule.Covers = year
	}
	return rule
}
