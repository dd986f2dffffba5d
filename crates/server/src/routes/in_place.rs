//! Plain texts and numbers in the OpenAPI document. A type such as `Decimal` has its own schema, so that each field of this type gets it.
//! As a component of the document it would only be one more name to look up, so it is shown where it is used.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, SchemaType, Type};
use utoipa::openapi::{Object, OpenApi as Document, Ref, RefOr, Schema};

/// Schemas by their reference.
type Plain = BTreeMap<String, Object>;

/// Replaces references to plain schemas by these schemas, and removes their components.
pub(crate) fn show(document: &mut Document) {
    let Some(components) = &mut document.components else { return };
    let mut plain = Plain::new();
    components.schemas.retain(|name, schema| match schema {
        RefOr::T(Schema::Object(object)) if is_plain(object) => {
            plain.insert(Ref::from_schema_name(name).ref_location, object.clone());
            false
        }
        RefOr::T(_) | RefOr::Ref(_) => true,
    });
    components.schemas.values_mut().for_each(|schema| resolve(schema, &plain));
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        let parameters = operations.into_iter().flatten().flat_map(|operation| &mut operation.parameters);
        for parameter in parameters.flatten() {
            if let RefOr::T(parameter) = parameter
                && let Some(schema) = &mut parameter.schema
            {
                resolve(schema, &plain);
            }
        }
    }
}

/// Returns whether a schema is a text or a number without a description of its own.
fn is_plain(object: &Object) -> bool {
    let is_scalar = matches!(
        object.schema_type,
        SchemaType::Type(Type::String | Type::Number | Type::Integer | Type::Boolean)
    );
    is_scalar && object.description.is_none() && object.enum_values.is_none()
}

/// Replaces the references in a schema.
fn resolve(schema: &mut RefOr<Schema>, plain: &Plain) {
    if let Some(object) = resolved(schema, plain) {
        *schema = object.into();
        return;
    }
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::Object(object) => {
            object.properties.values_mut().for_each(|property| resolve(property, plain));
            if let Some(AdditionalProperties::RefOr(values)) = object.additional_properties.as_deref_mut() {
                resolve(values, plain);
            }
        }
        Schema::Array(array) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                resolve(items, plain);
            }
        }
        Schema::OneOf(one) => one.items.iter_mut().for_each(|item| resolve(item, plain)),
        Schema::AllOf(all) => all.items.iter_mut().for_each(|item| resolve(item, plain)),
        Schema::AnyOf(any) => any.items.iter_mut().for_each(|item| resolve(item, plain)),
        // The variants of utoipa's enum may grow.
        _ => {}
    }
}

/// Returns the plain schema that a schema refers to, with the description and nullability of the reference.
fn resolved(schema: &RefOr<Schema>, plain: &Plain) -> Option<Object> {
    match schema {
        RefOr::Ref(reference) => {
            let mut object = plain.get(&reference.ref_location)?.clone();
            object.description = Some(reference.description.clone()).filter(|text| !text.is_empty());
            Some(object)
        }
        // An optional field: the schema, or null.
        RefOr::T(Schema::OneOf(one)) => {
            let [present, RefOr::T(Schema::Object(null))] = &*one.items else { return None };
            let mut object = resolved(present, plain)?;
            let SchemaType::Type(kind) = &object.schema_type else { return None };
            if null.schema_type != SchemaType::Type(Type::Null) {
                return None;
            }
            object.schema_type = SchemaType::Array(vec![kind.clone(), Type::Null]);
            Some(object)
        }
        RefOr::T(_) => None,
    }
}
