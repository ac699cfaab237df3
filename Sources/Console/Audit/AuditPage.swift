import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/audit` and `/audit`: the audit log of a pool or of the instance, with filters and CSV export.
struct AuditPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<AuditView>
  let row: Template<AuditRowView>
  let menus: AuditMenus
  let rows = MarkupCache<AuditRowView.Source>()

  private var audit: Audit { identity.audit }

  func show(_ context: PoolContext) async throws -> Response {
    let frame = try await frames.frame(Message("Audit log"), in: context)
    return try await page(context.signedIn, AuditLogPool(context.pool), frame)
  }

  func showAll(_ signedIn: SignedIn) async throws -> Response {
    let frame = await frames.frame(Message("Audit log"), for: signedIn)
    return try await page(signedIn, AuditLogPool(nil), frame)
  }

  func download(_ context: PoolContext) async throws -> Response {
    try await file(context.signedIn, AuditLogPool(context.pool))
  }

  func downloadAll(_ signedIn: SignedIn) async throws -> Response {
    try await file(signedIn, AuditLogPool(nil))
  }

  private func page(
    _ signedIn: SignedIn, _ place: AuditLogPool, _ frame: Frame
  ) async throws -> Response {
    let query = AuditQuery(signedIn.query)
    let after = signedIn.query.text("after")
    let (filter, faults) = try await filter(query, place, signedIn)
    let actors = try await audit.actors(place.pool)
    var frame = frame
    frame.errors = faults
    let status = try await identity.auditChain.status()
    var model = AuditView(
      frame: frame, place: place, query: query, actors: actors, menus: menus,
      integrity: AuditIntegrityView(
        status, signedIn.times,
        mayChange: place.pool == nil
          && signedIn.administrator.may(.manageAdministrators, in: nil)))
    guard faults.isEmpty else {
      model.showNothing()
      return .html(view.render(model), status: .unprocessableContent)
    }
    guard let filter else {
      model.show(.nothing, rows: Markup(trusted: ""), after: nil)
      return .html(view.render(model))
    }
    let found = try await audit.search(filter, after: after, limit: query.size.rows)
    let path = place.page
    if let first = signedIn.firstPage(
      of: path, insteadOf: Page(items: found.rows, next: found.next))
    {
      return first
    }
    try await audit.recordReading(place.pool, by: signedIn.author)
    let rows = rows.joined(
      found.rows.map { row in
        AuditRowView.Source(
          row: row, pool: row.poolKey.flatMap { found.pools[$0] }, path: path,
          showsPool: filter.pool == nil, times: signedIn.times)
      }
    ) { row.render(AuditRowView($0, frames.catalog)) }
    model.show(found, rows: rows, after: after)
    return .html(view.render(model))
  }

  private func filter(
    _ query: AuditQuery, _ place: AuditLogPool, _ signedIn: SignedIn
  ) async throws -> (filter: AuditFilter?, faults: [FieldError]) {
    guard place.pool == nil, let ids = query.poolIDs else {
      return query.filter(in: place.pool, signedIn.times)
    }
    do {
      let pool = try await identity.pools.existing(project: ids.project, tenant: ids.tenant)
      return query.filter(in: pool, signedIn.times)
    } catch is PoolLookupError {
      let (_, faults) = query.filter(in: nil, signedIn.times)
      return (
        nil,
        [
          FieldError(
            field: "pool",
            text: Message(
              "Enter the ID of a project, or of a project and a tenant, such as acme/eu-shop."))
        ] + faults
      )
    }
  }

  private func file(
    _ signedIn: SignedIn, _ place: AuditLogPool
  ) async throws -> Response {
    let query = AuditQuery(signedIn.query)
    let (filter, faults) = try await filter(query, place, signedIn)
    guard let filter, faults.isEmpty else { throw Refusal.unreadableForm }
    let words = query.form().entries.map { "\($0.name): \(Formatted.short($0.value.text))" }
    do {
      let export = try await audit.export(
        filter, words: words, into: AuditTable(frames.catalog), by: signedIn.author,
        in: signedIn.session
      ) { table, row in table.add(row) }
      var table = export.table
      if export.isCut { table.addEnd(after: export.count) }
      return table.csv.response(named: place.fileName)
    } catch let error as ActionDenial {
      switch error {
      case .notAllowed: throw Refusal.notAllowed(.readAudit)
      case .sessionEnded: throw Refusal.sessionEnded
      default: throw error
      }
    }
  }
}

/// The pool that the log belongs to; the instance log, which contains all entries, if nil.
struct AuditLogPool: Sendable {
  let pool: Pool?

  init(_ pool: Pool?) { self.pool = pool }

  var page: String { pool.map { ConsolePaths.audit($0) } ?? ConsolePaths.instanceAudit() }
  var file: String { pool.map { ConsolePaths.auditFile($0) } ?? ConsolePaths.instanceAuditFile() }

  var fileName: String {
    pool.map { "audit-\($0.objectID)" } ?? "audit"
  }
}
