import Database

public struct OtherAdministrators: Sendable, Equatable {
  /// The names that the requesting administrator is allowed to see.
  public let names: [String]
  /// The number of administrators, including those not named.
  public let count: Int
}

extension Administrators {
  /// Finds the other administrators who have a permission in a pool, for an administrator who
  /// has it too.
  ///
  /// Names are limited as in ``namesOfThose(with:in:for:)``.
  ///
  /// - Returns: Up to three names and the total number.
  public func otherAdministrators(
    with permission: Permission, in pool: Pool, of asking: Administrator
  ) async throws -> OtherAdministrators {
    let (roles, now) = (permission.roles, store.clock.now())
    return try await store.read { connection in
      var (names, count): ([String], Int) = ([], 0)
      var known: Set<String> = [asking.id.text]
      for place in Self.places(around: pool) {
        let isVisible = asking.grants.contains {
          $0.covers(project: place.project, tenant: place.tenant)
        }
        for role in roles {
          let found = try Self.holders(
            of: role, at: place, atMost: Self.mostColleagues, at: now, connection)
          for one in found where known.insert(one.id.text).inserted {
            count += 1
            if isVisible { names.append(one.name) }
          }
        }
      }
      return OtherAdministrators(names: Array(names.prefix(Self.mostNames)), count: count)
    }
  }

  /// Returns whether an administrator other than one has a permission in a pool.
  public func hasOther(
    than one: Administrator, with permission: Permission, in pool: Pool
  ) async throws -> Bool {
    try await store.read { now, connection in
      let places = Self.places(around: pool).map { place -> SQL in
        """
        EXISTS (SELECT 1 FROM administrator_grant
          WHERE project_id = \(place.project?.text ?? "") AND tenant_id = \(place.tenant?.text ?? "")
            AND role IN (\(list: permission.roles)) AND administrator_id <> \(one.id)
            AND \(Self.inForce(at: now)))
        """
      }
      return try connection.first("SELECT \(places.joined(separator: " OR "))") {
        try $0.next() as Bool
      } ?? false
    }
  }

  private static let mostNames = 3
  private static let mostColleagues = 1_000

  /// Finds the names of administrators who have a permission, for an administrator who doesn't have
  /// it.
  ///
  /// The result includes only administrators whose grant is within reach of the requester's own
  /// grants: those with a grant on the same project or tenant, and those with an instance-wide
  /// grant only if the requester has one too. A support agent of one tenant isn't told who owns the
  /// server.
  ///
  /// - Returns: Up to three names.
  public func namesOfThose(
    with permission: Permission, in pool: Pool?, for asking: Administrator
  ) async throws -> [String] {
    let (roles, now) = (permission.roles, store.clock.now())
    let places = Self.places(around: pool).filter { place in
      asking.grants.contains { $0.covers(project: place.project, tenant: place.tenant) }
    }
    return try await store.read { connection in
      var names: [String] = []
      for place in places {
        for role in roles {
          let found = try Self.holders(
            of: role, at: place, atMost: Self.mostNames, at: now, connection)
          for one in found where !names.contains(one.name) { names.append(one.name) }
        }
      }
      return Array(names.prefix(Self.mostNames))
    }
  }

  /// Finds the administrators to email about a pool; each is listed once, with the broadest
  /// of their roles with the permission.
  static func recipients(
    with permission: Permission, around pool: Pool?, atMost most: Int,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> [(id: ID<Administrator>, email: String, role: Role)] {
    var found: [(id: ID<Administrator>, email: String, role: Role)] = []
    for role in permission.roles {
      for place in places(around: pool) {
        let granted = try holders(of: role, at: place, atMost: most, at: now, connection)
        for one in granted where found.count < most && !found.contains(where: { $0.id == one.id }) {
          found.append((one.id, one.email, role))
        }
      }
    }
    return found
  }

  /// Finds administrators who have a role at exactly one level.
  private static func holders(
    of role: Role, at place: (project: ID<Project>?, tenant: ID<Tenant>?), atMost most: Int,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> [(id: ID<Administrator>, name: String, email: String)] {
    try connection.all(
      """
      SELECT a.administrator_id, a.display_name, a.email
      FROM administrator_grant g JOIN administrator a USING (administrator_id)
      WHERE g.project_id = \(place.project?.text ?? "")
        AND g.tenant_id = \(place.tenant?.text ?? "") AND g.role = \(role)
        AND \(inForce(at: now))
      LIMIT \(most)
      """
    ) { row in (id: try row.next(), name: try row.next(), email: try row.next()) }
  }

  /// Returns the levels at which a grant applies to a pool, narrowest first.
  static func places(
    around pool: Pool?
  ) -> [(project: ID<Project>?, tenant: ID<Tenant>?)] {
    var places: [(project: ID<Project>?, tenant: ID<Tenant>?)] = []
    if let pool {
      if pool.tenant != nil { places.append((pool.project, pool.tenant)) }
      places.append((pool.project, nil))
    }
    return places + [(nil, nil)]
  }
}
