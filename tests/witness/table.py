"""A table whose rows are functions, each registered by a decorator."""


class Table(dict):
    def row(self, *names):
        """Registers a function under its own name; or, given names, one that takes a name as its last argument."""
        if callable(names[0]):
            self[names[0].__name__.rstrip("_")] = names[0]
            return names[0]

        def register(make):
            for name in names:
                self[name] = lambda subject, name=name: make(subject, name)
            return make
        return register
