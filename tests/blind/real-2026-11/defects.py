"""The defects of defects.json: each changes one operation of the honest table, or a family of them."""
import elementwise_defects
import layer_defects
import reduction_defects

DEFECTS = {**elementwise_defects.DEFECTS, **reduction_defects.DEFECTS, **layer_defects.DEFECTS}


def planted(table, name):
    """The table with the defect of that name, or as it is where the name is empty."""
    if name:
        operations, changed = DEFECTS[name]
        for operation in operations.split():
            table[operation] = changed(table[operation])
    return table
