"""All forms."""

from . import elementwise_forms, reducing_forms, view_forms

FORMS = elementwise_forms.FORMS + view_forms.FORMS + reducing_forms.FORMS
