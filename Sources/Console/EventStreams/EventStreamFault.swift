import Identity
import Localization

/// The errors of the forms that add and change streams.
enum EventStreamFault {
  /// The errors of the input, whatever other streams there are.
  static func fields(
    _ kind: EventStream.Kind?, _ target: String, _ name: String
  ) throws(Refusal) -> [FieldError] {
    var errors: [FieldError] = []
    for fault in EventStreams.faults(kind: kind, target: target, name: name) {
      errors.append(try field(fault))
    }
    return errors
  }

  static func field(_ error: EventStreamError) throws(Refusal) -> FieldError {
    switch error {
    case .invalidName: FieldError(field: "name", text: Message("event-streams.name-invalid"))
    case .invalidTarget:
      FieldError(field: "target", text: Message("event-streams.target-invalid"))
    case .exists: FieldError(field: "target", text: Message("event-streams.exists"))
    case .nameTaken:
      FieldError(field: "name", text: Message("event-streams.name-taken"))
    case .tooMany:
      FieldError(
        field: "name",
        text: Message("event-streams.too-many", ["count": .number(EventStreams.most)]))
    case .notFound, .letterNotFound: throw .notFound
    case .changedMeanwhile, .unavailable: throw .unavailable(error)
    }
  }
}
