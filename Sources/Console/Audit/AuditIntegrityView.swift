import HTTP
import Identity
import Localization
import Templating

struct AuditIntegrityView: ViewModel {
  private let status: AuditChain.Status
  private let times: Times
  private let mayChange: Bool

  init(_ status: AuditChain.Status, _ times: Times, mayChange: Bool) {
    (self.status, self.times, self.mayChange) = (status, times, mayChange)
  }

  private var verified: Message? {
    guard status.fault == nil else { return nil }
    guard let position = status.verified, let at = status.verifiedAt, let checked = status.checkedAt
    else { return Message("Not verified yet.") }
    return Message(
      "Verified through {time} (entry {position}), last checked {checked}.",
      [
        "time": times.value(at), "position": .number(Int(position)),
        "checked": times.value(checked),
      ])
  }

  private var fault: Message? {
    status.fault.map {
      Message(
        """
        Verification failed at entry {position}: stored entries were changed or deleted outside \
        of Countersign. Run countersign audit verify for details.
        """, ["position": .number(Int($0))])
    }
  }

  /// How far entries are sealed that were written before the chain began.
  private var progress: Message? {
    guard status.unsealed > AuditChain.headInterval else { return nil }
    return Message(
      "Sealing earlier entries: {sealed} of {total}.",
      [
        "sealed": .number(Int(status.sealed)),
        "total": .number(Int(status.sealed + status.unsealed)),
      ])
  }

  private var retention: Message {
    status.retention.map {
      Message(
        one: "Entries are kept for {count} day.",
        other: "Entries are kept for {count} days.", ["count": .number($0)])
    }
      ?? Message("Entries are kept forever.")
  }

  private var removed: Message? {
    status.removed.map {
      Message(
        "Entries up to {last} were removed by retention, most recently on {time}.",
        ["last": .number(Int($0.last)), "time": times.value($0.at)])
    }
  }

  static let keys: Keys<Self> = [
    .text("verified") { $0.verified },
    .text("fault") { $0.fault },
    .text("progress") { $0.progress },
    .text("retention") { $0.retention },
    .text("removed") { $0.removed },
    .text("change") { $0.mayChange ? ConsolePaths.auditRetention() : nil },
  ]
}
