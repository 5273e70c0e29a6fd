-- Employee: nothing == 1
refused: The PostgreSQL store cannot evaluate 'nothing == 1': the entity 'Employee' has no property 'nothing'. Change the request, or filter and sort in memory.
-- Employee: name.nothing == 1
refused: The PostgreSQL store cannot evaluate 'name.nothing == 1': 'name' of entity 'Employee' is an attribute and has no properties. Change the request, or filter and sort in memory.
-- Employee: tags.employees.name == 'x'
refused: The PostgreSQL store cannot evaluate 'tags.employees.name == "x"': 'employees' is a to-many relationship within another one, or stands where one value is needed; use SUBQUERY, ANY or @count. Change the request, or filter and sort in memory.
-- Employee: likes > 3
refused: The PostgreSQL store cannot evaluate 'likes > 3': values of this kind have no order. Change the request, or filter and sort in memory.
-- Employee: address > 3
refused: The PostgreSQL store cannot evaluate 'address > 3': a composite attribute can only be compared for equality; compare its elements. Change the request, or filter and sort in memory.
-- Employee: address == 3
refused: The PostgreSQL store cannot evaluate 'address == 3': 'address' takes a dictionary of its elements' values. Change the request, or filter and sort in memory.
-- Employee: address.nothing == 3
refused: The PostgreSQL store cannot evaluate 'address.nothing == 3': the composite attribute 'address' has no element 'nothing'. Change the request, or filter and sort in memory.
-- Employee: name == $x
refused: The PostgreSQL store cannot evaluate 'name == $x': the variable $x has no value. Change the request, or filter and sort in memory.
-- Employee: department < boss
FALSE
-- Employee: tags.@median.name == 'x'
refused: The PostgreSQL store cannot evaluate 'tags.@median.name == "x"': the collection operator '@median' has no equivalent in SQL. Change the request, or filter and sort in memory.
-- Employee: notes LIKE 'x'
refused: The PostgreSQL store cannot evaluate 'notes LIKE "x"': string comparisons apply to text. Change the request, or filter and sort in memory.
-- Employee: age IN 5
refused: The PostgreSQL store cannot evaluate 'age IN 5': IN needs a collection or a text on its right side. Change the request, or filter and sort in memory.
-- Employee: tags == name.more
refused: The PostgreSQL store cannot evaluate 'tags == name.more': 'name' of entity 'Employee' is an attribute and has no properties. Change the request, or filter and sort in memory.
-- Employee: hired * 2 == 3
refused: The PostgreSQL store cannot evaluate 'hired * 2 == 3': dates can be added to seconds, and subtracted from dates. Change the request, or filter and sort in memory.
-- Employee: uppercase:(hired) == 'x'
refused: The PostgreSQL store cannot evaluate 'uppercase:(hired) == "x"': 'uppercase:' needs a text. Change the request, or filter and sort in memory.
