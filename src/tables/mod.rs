//! Columns and Parquet files; the only place that names polars. It never knows what a sample is.
