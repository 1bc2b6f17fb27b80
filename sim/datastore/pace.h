/* Two clocks that agree at one instant and run at a pace from there: model time behind a wall clock. */
#ifndef SL_DATASTORE_PACE_H
#define SL_DATASTORE_PACE_H

#include <stdint.h>

struct sl_pace {
	int64_t wall_zero_ns, model_zero_ns; /* the same instant */
	double pace;                         /* nanoseconds on the wall for one of the model; > 0 */
};

/* Rounded up, so that a timer set by it never finds the model short of its event. */
static inline int64_t sl_pace_to_wall(const struct sl_pace *pace, int64_t model_ns)
{
	double wall_ns = (double)(model_ns - pace->model_zero_ns) * pace->pace;
	int64_t whole_ns = (int64_t)wall_ns;

	return pace->wall_zero_ns + whole_ns + (wall_ns > (double)whole_ns);
}

/* Rounded to the nearest, so that it undoes sl_pace_to_wall. The model stands still until the zero. */
static inline int64_t sl_pace_to_model(const struct sl_pace *pace, int64_t wall_ns)
{
	double model_ns = (double)(wall_ns - pace->wall_zero_ns) / pace->pace;

	return pace->model_zero_ns + (model_ns > 0 ? (int64_t)(model_ns + 0.5) : 0);
}

#endif
