"""The plugins, one file each, under Kubernetes' names in snake_case. A plugin never imports another."""
