import Identity
import Localization
import MailText

extension WeakenedPolicy {
  func sentence(_ times: Times) -> Message {
    let (who, time) = (Message.Value.name(Formatted.short(by)), times.value(at))
    let changes = Message.Value.sequence(weakenings.map(\.phrase))
    guard let reason else {
      return Message(
        "Policy weakened: {changes}. {who}, {time}.",
        ["who": who, "time": time, "changes": changes])
    }
    return Message(
      "Policy weakened: {changes}. {who}, {time}. Reason: {reason}",
      [
        "who": who, "time": time, "changes": changes, "reason": .name(Formatted.short(reason)),
      ])
  }
}

extension PolicyWeakening {
  var phrase: Message {
    switch self {
    case .factorDisabled(.totp): return Message("TOTP is off")
    case .factorDisabled(.phone): return Message("SMS is off")
    case .widerWindow(let from, let to):
      func codes(_ intervals: Int) -> Int { 2 * intervals + 1 }
      return Message(
        one: "{former} → {count} valid code", other: "{former} → {count} valid codes",
        ["count": .number(codes(to)), "former": .number(codes(from))])
    case .noLongerMandatory: return Message("MFA is no longer mandatory")
    case .looserPattern(_, let to):
      let pattern = PatternText.name(to, from: nil) ?? Message("none")
      return Message("new enrollment pattern: {pattern}", ["pattern": .message(pattern)])
    case .laterStart(_, let to):
      return Message("enrollment is mandatory only from {day}", ["day": Times.value(to)])
    case .looserEnforcement(_, nil): return Message("the server no longer enforces enrollment")
    case .looserEnforcement(_, let to?):
      return Message(
        "less strict server enforcement: {enforcement}", ["enforcement": .message(to.message)])
    }
  }
}
