//! Lower bounds of the makespan, and the crossover that they predict.
