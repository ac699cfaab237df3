import JSON
import Testing
import Text

/// Parses JSON text in a test.
func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

/// Members whose string values differ from run to run, and are replaced with their names.
private let varying: Set<UntrustedText> = [
  "localId", "idToken", "id_token", "access_token", "refreshToken", "refresh_token", "user_id",
  "sub", "mfaEnrollmentId", "mfaPendingCredential", "sharedSecretKey", "sessionInfo", "name",
  "projectId", "project_id", "apiKey", "second_factor_identifier",
]

/// Returns the value with varying members masked: `"localId": "<localId>"`.
func masked(_ value: JSON) -> JSON {
  switch value {
  case .array(let elements): .array(elements.map(masked))
  case .object(let object):
    .object(
      JSON.Object(
        object.members.map { name, value in
          if case .text = value, varying.contains(name) { return (name, .string("<\(name)>")) }
          return (name, masked(value))
        }))
  default: value
  }
}
