"""A release in partitions of whole buckets, each as large as one worker can hold."""
