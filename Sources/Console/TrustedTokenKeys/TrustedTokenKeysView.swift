import HTTP
import Identity
import Localization
import Templating

struct TrustedTokenKeysView: ViewModel {
  let frame: FrameView
  let pool: Pool
  let rows: [TrustedTokenKeyRow]
  let revoked: [TrustedTokenKeyRow]
  let history: [HistoryRow]?
  let mayChange: Bool
  let isEmulator: Bool

  init(
    frame: Frame, pool: Pool, trustedTokenKeys: [TrustedTokenKey], history: [AuditRow]?,
    mayChange: Bool,
    isEmulator: Bool
  ) {
    self.frame = FrameView(frame)
    self.pool = pool
    let all = trustedTokenKeys.map {
      TrustedTokenKeyRow(
        signer: $0, project: pool.project, mayChange: mayChange, times: frame.times)
    }
    rows = all.filter { $0.signer.revokedAt == nil }
    revoked = Array(all.filter { $0.signer.revokedAt != nil }.prefix(20))
    self.history = history?.map { HistoryRow($0, frame.times, frame.catalog) }
    self.mayChange = mayChange
    self.isEmulator = isEmulator
  }

  private var add: String? { mayChange ? ConsolePaths.newTrustedTokenKey(pool.project.text) : nil }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("projectName") { $0.pool.name },
    .flag(\.isEmulator),
    .text("add") { $0.add },
    .flag("hasRows") { !$0.rows.isEmpty },
    .list(\.rows),
    .object("empty") { view in
      EmptyView(
        heading: Message("No custom token signing keys"),
        sentence: Message(
          """
          A backend that already authenticates its users can sign them in here with custom \
          tokens. Register its public key to allow this.
          """),
        link: view.add.map {
          EmptyLink(text: Message("Register key"), href: $0, isPrimary: true)
        })
    },
    .flag("hasRevoked") { !$0.revoked.isEmpty },
    .number("count") { $0.revoked.count },
    .list(\.revoked),
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.history ?? [] },
  ]
}

struct TrustedTokenKeyRow: ViewModel {
  let signer: TrustedTokenKey
  let project: ID<Project>
  let mayChange: Bool
  let times: Times

  static let keys: Keys<Self> = [
    .text("issuer") { $0.signer.issuer },
    .text("label") { $0.signer.label },
    .text("keyID") { $0.signer.keyID },
    .text("maker") { $0.signer.createdBy },
    .markup("created") { $0.times.day($0.signer.createdAt) },
    .markup("lastUsed") { $0.times.lastUse($0.signer.lastUsedAt, since: $0.signer.createdAt) },
    .markup("revoked") { $0.signer.revokedAt.map($0.times.past) },
    .text("revocation") { row in
      row.mayChange
        ? ConsolePaths.trustedTokenKeyRevocation(row.project.text, row.signer.id.text) : nil
    },
  ]
}
