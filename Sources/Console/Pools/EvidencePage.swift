import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/review/evidence`: the evidence of a review, to be printed, and the signed file.
struct EvidencePage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<EvidenceView>

  func show(_ context: ProjectContext) async throws -> Response {
    let evidence = try await read(context)
    let key = try await identity.evidenceKeys.current()
    let frame = try await frames.frame(
      Message("Review evidence"), in: context,
      crumbs: [
        Link(
          text: Message("Policy review"),
          href: ConsolePaths.review(context.pool.project.text))
      ])
    return .html(
      view.render(EvidenceView(frame: FrameView(frame), evidence: evidence, key: key)))
  }

  func download(_ context: ProjectContext) async throws -> Response {
    let evidence = try await read(context)
    let file = try await identity.reviews.file(evidence)
    var response = Response(body: .bytes(file))
    response.fields[.contentType] = "application/json"
    let name = "evidence-\(context.pool.project.text)-\(Day(evidence.at))"
    response.fields.add(.contentDisposition, "attachment; filename=\"\(name).json\"")
    return response
  }

  private func read(_ context: ProjectContext) async throws -> ReviewEvidence {
    try await identity.reviews.evidence(
      of: context.pool.project, for: context.signedIn.administrator)
  }
}

struct EvidenceView: ViewModel {
  let frame: FrameView
  let evidence: ReviewEvidence
  let key: EvidenceKey

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.evidence.pool.projectName },
    .markup("at") { $0.frame.times.moment($0.evidence.at) },
    .text("reader") { $0.evidence.reader },
    .text("file") { ConsolePaths.evidenceFile($0.evidence.pool.project.text) },
    .text("digest") { $0.evidence.digest },
    .text("fingerprint") { $0.key.id },
    .markup("status") { $0.evidence.status.sentence($0.frame.times) },
    .optional("changes") {
      PolicyDifferences.sinceSignOff($0.evidence.changes, of: $0.evidence.pool.project)
    },
    .list("pools") { view in
      view.evidence.pools.map {
        EvidencePool(pool: $0, kind: view.evidence.pool.kind, times: view.frame.times)
      }
    },
    .flag("hasExemptions") { !$0.evidence.exemptions.isEmpty },
    .object("exemptions") { ExemptionTable($0.evidence.exemptions, $0.frame.times) },
    .list("signOffs") { view in
      view.evidence.signOffs.map {
        SignOffRow(signOff: $0, current: view.evidence.digest, times: view.frame.times)
      }
    },
  ]
}

struct EvidencePool: ViewModel {
  let pool: ReviewEvidence.ReviewedPool
  let kind: PoolKind
  let times: Times

  private var summary: PolicySummary { pool.summary }

  static let keys: Keys<Self> = [
    .text("name") { $0.summary.displayName },
    .text("id") {
      $0.summary.tenant.map { .verbatim($0.text) } ?? Message("users outside tenants")
    },
    .markup("totp") { $0.summary.edit.configuration.chip(in: $0.kind) },
    .markup("window") { WindowStrip.small($0.summary.edit.configuration) },
    .markup("sms") { $0.summary.edit.configuration.smsChip },
    .text("pattern") {
      $0.summary.edit.patternName
        ?? Message("none")
    },
    .markup("enrolled") { Meter.share($0.summary.enrolledUsers, of: $0.summary.users) },
    .text("users") {
      Message(
        one: "{enrolled} of {count} user", other: "{enrolled} of {count} users",
        [
          "enrolled": .number($0.summary.enrolledUsers), "count": .number($0.summary.users),
        ])
    },
    .number("exemptions") { $0.pool.exemptions },
    .markup("changed") { row in row.summary.changedAt.map(row.times.day) },
    .text("changedBy") { $0.summary.changedBy },
    .text("changeReason") { $0.summary.changeReason },
  ]
}

struct SignOffRow: ViewModel {
  let signOff: SignOff
  let current: String
  let times: Times

  static let keys: Keys<Self> = [
    .markup("at") { $0.times.moment($0.signOff.signedAt) },
    .text("reviewer") { $0.signOff.reviewerName },
    .text("note") { $0.signOff.note },
    .text("due") { Message.value(Times.value($0.signOff.dueOn)) },
    .markup("same") {
      $0.signOff.digest == $0.current
        ? Chip.on(Message("current policies")) : Chip.off(Message("earlier policies"))
    },
  ]
}
