/* Private to model/: checks whether a hull fits the parameters of a contact law. The function is defined in
 * contact/laws.c. */
#ifndef SDRS_MODEL_CONTACT_FITS_H
#define SDRS_MODEL_CONTACT_FITS_H

#include "model/model.h"

/* Returns true if the law can compute with the hull under its own parameters `law_parameters`
 * (ModelContact.law_parameters). Otherwise writes the violated rule and the remedy to text[size], as the end of a
 * sentence whose subject is the link. Allocates temporary memory. */
bool contact_fits(ContactModel model, const ModelHull* hull, const double* law_parameters, char* text, size_t size);

#endif
