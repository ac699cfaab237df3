/// The JSON schema of policy files, as published in `docs/policy.schema.json`.
enum PolicyFileSchema {
  static let jsonSchema = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Countersign policy file",
      "description": "MFA policies of user pools. Pools and fields that aren't given are left alone.",
      "type": "object",
      "required": ["format", "pools"],
      "additionalProperties": false,
      "properties": {
        "format": { "const": "countersign-policy/1" },
        "pools": { "type": "array", "items": { "$ref": "#/$defs/pool" } }
      },
      "$defs": {
        "state": { "enum": ["unspecified", "disabled", "enabled", "mandatory"] },
        "pool": {
          "type": "object",
          "required": ["project", "policyVersion"],
          "additionalProperties": false,
          "properties": {
            "project": {
              "description": "The project's ID.",
              "type": "string",
              "minLength": 1,
              "maxLength": 128
            },
            "tenant": {
              "description": "The tenant's ID; null or absent for the project's own users.",
              "type": ["string", "null"],
              "minLength": 1,
              "maxLength": 128
            },
            "policyVersion": {
              "description": "The version that the file is based on. A change to another one is refused.",
              "type": "integer",
              "minimum": 0,
              "maximum": 2147483647
            },
            "state": {
              "description": "The configuration's top-level state; null if it isn't set.",
              "anyOf": [{ "$ref": "#/$defs/state" }, { "type": "null" }]
            },
            "sms": { "description": "Whether SMS is an enabled provider.", "type": "boolean" },
            "totp": {
              "description": "The TOTP configuration; null for none. A new one needs both members.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "properties": {
                "state": { "$ref": "#/$defs/state" },
                "adjacentIntervals": {
                  "description": "The intervals accepted on each side; null for the default of 5.",
                  "type": ["integer", "null"],
                  "minimum": 0,
                  "maximum": 10
                }
              }
            },
            "pattern": {
              "description": "How users are asked to enroll; null if no pattern is set.",
              "enum": ["mandatory", "skippable", "account", "step-up", null]
            },
            "mandatoryFrom": {
              "description": "The day from which enrollment is mandatory; null for immediately.",
              "type": ["string", "null"],
              "format": "date",
              "pattern": "^(19[7-9]|[2-9][0-9]{2})[0-9]-[0-9]{2}-[0-9]{2}$"
            },
            "enforcement": {
              "description": "How the server enforces mandatory enrollment; null if it doesn't.",
              "type": ["object", "null"],
              "required": ["mode", "from", "graceDays"],
              "additionalProperties": false,
              "properties": {
                "mode": { "enum": ["claim", "refuse"] },
                "from": {
                  "type": "string",
                  "format": "date",
                  "pattern": "^(19[7-9]|[2-9][0-9]{2})[0-9]-[0-9]{2}-[0-9]{2}$"
                },
                "graceDays": { "type": "integer", "minimum": 0, "maximum": 90 }
              }
            }
          }
        }
      }
    }
    """
}
