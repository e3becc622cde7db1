"""From folders of cases to tables, and what the tables say."""
