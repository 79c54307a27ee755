"""Feed KeepTree random damage, data and commands; each must give a result or one clear error."""
