//! SQL as DuckDB understands it, said so that polars gives the same answer. What polars would answer otherwise without a word
//! is rewritten here, or refused with what to write instead; `tests/corpus.rs` compares.

use crate::kinds::{Kind as ValueKind, Kinds, arguments, is_integer};
use crate::protocol::{Error, Kind};
use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, UnaryOperator,
    Value, VisitMut, VisitorMut, WindowType,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// Rewrites one statement.
pub(crate) struct Dialect {
    kinds: Kinds,
}

type Step = ControlFlow<Error>;

impl Dialect {
    /// The statement as polars takes it.
    pub fn translated(sql: &str, kinds: Kinds) -> Result<String, Error> {
        let dialect = GenericDialect;
        let statements = Parser::parse_sql(&dialect, sql)
            .map_err(|error| Error::new(Kind::Usage, error.to_string().replace("sql parser error: ", "wrong SQL: ")))?;
        let [Statement::Query(query)] = &statements[..] else {
            let text = "one question is answered at a time, and it begins with SELECT or WITH";
            return Err(Error::new(Kind::Usage, text));
        };
        let mut query = query.clone();
        name_columns(&mut query.body);
        let mut aliases = Aliases { kinds, depth: 0 };
        // What an alias stands for may name another one.
        for _ in 0..3 {
            let _ = VisitMut::visit(&mut query, &mut aliases);
        }
        let mut rewriting = Dialect { kinds: aliases.kinds };
        match VisitMut::visit(&mut query, &mut rewriting) {
            ControlFlow::Continue(()) => Ok(query.to_string()),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

/// Gives each column of the answer a name of its own: its text, as other engines do.
fn name_columns(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) = item
                    && !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
                {
                    let alias = Ident::with_quote('"', expr.to_string().replace('"', ""));
                    *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
                }
            }
        }
        SetExpr::Query(query) => name_columns(&mut query.body),
        SetExpr::SetOperation { left, .. } => name_columns(left),
        _ => {}
    }
}

/// Learns what kinds of values the aliases stand for.
struct Aliases {
    kinds: Kinds,
    /// Selects within selects: those of the outermost query are of the answer, and no expression names them.
    depth: usize,
}

impl VisitorMut for Aliases {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.depth < 2 {
            return ControlFlow::Continue(());
        }
        for item in &select.projection {
            if let SelectItem::ExprWithAlias { expr, alias } = item
                && let Some(kind) = self.kinds.of(expr)
            {
                self.kinds.add(&alias.value, Some(kind));
            }
        }
        ControlFlow::Continue(())
    }
}

impl VisitorMut for Dialect {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> Step {
        if let Some(OrderByKind::Expressions(order)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            nulls_last(order);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Step {
        let rewritten = match expr {
            Expr::Function(function) => self.function(function),
            Expr::Cast {
                kind: CastKind::Cast | CastKind::DoubleColon | CastKind::TryCast, expr, data_type, ..
            } => self.cast(expr, data_type),
            Expr::BinaryOp { left, op, right } => self.operation(left, op, right),
            Expr::Value(value) => Ok(written_out(&value.value)),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
                self.make_signed(expr);
                Ok(None)
            }
            Expr::Case { conditions, else_result, .. } => {
                let results = conditions.iter_mut().map(|case| &mut case.result);
                self.make_alike(results.chain(else_result.iter_mut().map(|it| &mut **it)).collect());
                Ok(None)
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char: Some(escape) } => {
                like(*negated, expr, pattern, &escape.value)
            }
            Expr::RLike { .. } | Expr::SimilarTo { .. } => {
                Err(unsupported("SIMILAR TO and RLIKE").hint("Write LIKE, or x ~ 'PATTERN' for a whole text."))
            }
            _ => Ok(None),
        };
        match rewritten {
            Ok(Some(new)) => *expr = new,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}

/// polars puts nulls first where the order falls.
fn nulls_last(order: &mut [OrderByExpr]) {
    for by in order {
        by.options.nulls_first.get_or_insert(false);
    }
}

type Rewritten = Result<Option<Expr>, Error>;

impl Dialect {
    fn function(&self, function: &mut Function) -> Rewritten {
        let name = function.name.to_string().to_lowercase();
        if let FunctionArguments::List(list) = &mut function.args {
            for clause in &mut list.clauses {
                if let FunctionArgumentClause::OrderBy(order) = clause {
                    nulls_last(order);
                }
            }
        }
        if let Some(WindowType::WindowSpec(window)) = &mut function.over {
            nulls_last(&mut window.order_by);
            if window.order_by.len() > 1 {
                window.order_by.iter_mut().for_each(|by| self.null_as_bound(by));
            }
            let cumulates = !window.order_by.is_empty() && window.window_frame.is_none();
            let of_frame = ["sum", "count", "avg", "min", "max", "first_value", "last_value"].contains(&name.as_str());
            if cumulates && of_frame {
                let text = format!("{} with ORDER BY over rows that are equal in it", name.to_uppercase());
                return Err(unsupported(&text).hint(
                    "Add to the window: ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, which counts row by row.",
                ));
            }
        }
        let first = arguments(&function.args).first().map(|expr| (*expr).clone());
        let second = arguments(&function.args).get(1).map(|expr| (*expr).clone());
        Ok(match (name.as_str(), first, second) {
            // These are unsigned there: differences would be great numbers.
            (
                "count" | "length" | "char_length" | "character_length" | "octet_length" | "bit_length" | "strpos"
                | "row_number",
                ..,
            ) => Some(cast(Expr::Function(function.clone()), DataType::BigInt(None))),
            // A sum has more digits than what it is of; one that does not fit is an error, no other number.
            ("sum", Some(value), None)
                if !matches!(self.kinds.of(&value), None | Some(ValueKind::Number | ValueKind::Text)) =>
            {
                replace_first(function, cast(value, DataType::HugeInt));
                Some(cast(Expr::Function(function.clone()), DataType::BigInt(None)))
            }
            ("rank" | "dense_rank", None, None) => Some(ranked(function, &name)?),
            ("coalesce" | "ifnull" | "nullif" | "greatest" | "least", ..) => {
                self.make_alike(arguments_mut(function));
                None
            }
            ("concat" | "concat_ws", ..) => {
                arguments(&function.args).iter().try_for_each(|value| self.has_one_text(value))?;
                None
            }
            ("upper", Some(value), None) => {
                replace_first(function, parsed(&format!("replace({value}, 'ß', 'ẞ')")));
                None
            }
            ("round", Some(value), None) if self.is_no_integer(&value) => Some(rounded(value)),
            ("round", Some(value), Some(digits)) => Some(rounded_to(value, &digits)?),
            ("mod", Some(left), Some(right)) => Some(remainder(left, right)),
            ("log", Some(value), None) => Some(call("log10", [value])),
            ("log", Some(base), Some(value)) => {
                Some(binary(call("ln", [value]), BinaryOperator::Divide, call("ln", [base])))
            }
            ("div", ..) => return Err(unsupported("DIV").hint("Write x // y.")),
            _ => None,
        })
    }

    fn is_no_integer(&self, value: &Expr) -> bool {
        !matches!(self.kinds.of(value), Some(ValueKind::Integer | ValueKind::Unsigned))
    }

    /// Arithmetic without a sign wraps below zero. What does not fit is an error.
    fn make_signed(&self, expr: &mut Expr) {
        if self.kinds.of(expr) == Some(ValueKind::Unsigned) {
            *expr = cast(expr.clone(), DataType::BigInt(None));
        }
    }

    /// One of several values: all without a sign, or all with one.
    fn make_alike(&self, values: Vec<&mut Expr>) {
        if !self.kinds.are_unsigned(&values.iter().map(|value| &**value).collect::<Vec<_>>()) {
            values.into_iter().for_each(|value| self.make_signed(value));
        }
    }

    /// How many digits a number with a fraction has as a text, and when it gets an exponent, differs between engines.
    fn has_one_text(&self, value: &Expr) -> Result<(), Error> {
        if self.kinds.of(value) != Some(ValueKind::Number) {
            return Ok(());
        }
        Err(unsupported("texts of floating-point numbers")
            .hint("Leave it a number, or write CAST(ROUND(x) AS BIGINT)."))
    }

    /// By several keys polars puts nulls first in a window, whatever is asked for: they become a value beyond all others.
    /// (A key of its own for them would have the name of the key it belongs to, and there each name is one key's.)
    fn null_as_bound(&self, by: &mut OrderByExpr) {
        let is_highest = (by.options.asc == Some(false)) == (by.options.nulls_first == Some(true));
        let signed = |bound: Expr| match is_highest {
            true => bound,
            false => nested(Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(bound) }),
        };
        let (value, bound) = match self.kinds.of(&by.expr) {
            // Wider than any column of integers.
            Some(ValueKind::Integer | ValueKind::Unsigned) => {
                let wide = |value| cast(value, DataType::HugeInt);
                (
                    wide(by.expr.clone()),
                    binary(signed(wide(number("9000000000000000000"))), BinaryOperator::Multiply, wide(number("1000"))),
                )
            }
            Some(ValueKind::Number) => (by.expr.clone(), signed(call("exp", [number("1000.0")]))),
            Some(ValueKind::Text) => {
                let bound = if is_highest { "\u{10ffff}" } else { "" };
                (by.expr.clone(), Expr::Value(Value::SingleQuotedString(bound.to_string()).into()))
            }
            Some(ValueKind::Boolean) | None => return,
        };
        by.expr = call("coalesce", [value, bound]);
    }

    /// To an integer, DuckDB rounds, half to even, where polars truncates. Narrow integers are as wide as others.
    fn cast(&self, expr: &mut Box<Expr>, kind: &mut DataType) -> Rewritten {
        let word = kind.to_string().to_uppercase();
        let word = word.split(['(', ' ']).next().unwrap_or("");
        if ["VARCHAR", "TEXT", "STRING", "CHAR"].contains(&word) {
            self.has_one_text(expr)?;
        }
        if is_integer(word) {
            *kind = match word {
                "UBIGINT" | "UINT64" => DataType::UBigInt,
                _ => DataType::BigInt(None),
            };
            if !is_integral(expr) && matches!(self.kinds.of(expr), None | Some(ValueKind::Number)) {
                // What is written with a point is a decimal number there: half away from zero.
                **expr = if is_literal(expr) { rounded((**expr).clone()) } else { call("round", [(**expr).clone()]) };
            }
        }
        Ok(None)
    }

    fn operation(&self, left: &mut Expr, op: &mut BinaryOperator, right: &mut Expr) -> Rewritten {
        use BinaryOperator as Op;
        if matches!(op, Op::Plus | Op::Minus | Op::Multiply | Op::Modulo | Op::DuckIntegerDivide) {
            self.make_signed(left);
            self.make_signed(right);
        }
        if matches!(op, Op::StringConcat) {
            self.has_one_text(left).and_then(|()| self.has_one_text(right))?;
        }
        Ok(match op {
            BinaryOperator::Modulo => Some(remainder(left.clone(), right.clone())),
            BinaryOperator::DuckIntegerDivide => Some(quotient(left.clone(), right.clone())),
            // In DuckDB a power, and a match of the whole text.
            BinaryOperator::BitwiseXor => Some(call("pow", [left.clone(), right.clone()])),
            BinaryOperator::PGRegexMatch | BinaryOperator::PGRegexNotMatch => {
                if let Expr::Value(value) = right
                    && let Value::SingleQuotedString(pattern) = &mut value.value
                {
                    *pattern = format!("^(?s:{pattern})$");
                }
                None
            }
            _ => None,
        })
    }
}

/// Numbers with an exponent, which polars cannot read.
fn written_out(value: &Value) -> Option<Expr> {
    let Value::Number(digits, _) = value else { return None };
    let exact: f64 = digits.parse().ok().filter(|_| digits.contains(['e', 'E']))?;
    Some(number(&if exact.fract() == 0.0 { format!("{exact}.0") } else { exact.to_string() }))
}

/// With a character of its own to escape: as a regular expression.
fn like(negated: bool, text: &Expr, pattern: &Expr, escape: &Value) -> Rewritten {
    let (Expr::Value(pattern), Value::SingleQuotedString(escape)) = (pattern, escape) else {
        return Err(unsupported("LIKE with ESCAPE by a pattern that is not written out"));
    };
    let Value::SingleQuotedString(pattern) = &pattern.value else {
        return Err(unsupported("LIKE with ESCAPE by a pattern that is not written out"));
    };
    let (mut regex, mut letters) = (String::from("^(?s:"), pattern.chars());
    while let Some(letter) = letters.next() {
        match letter {
            letter if escape.starts_with(letter) => regex.extend(letters.next().map(literal)),
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            letter => regex.push_str(&literal(letter)),
        }
    }
    let pattern = Expr::Value(Value::SingleQuotedString(regex + ")$").into());
    let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
    Ok(Some(binary(text.clone(), op, pattern)))
}

fn literal(letter: char) -> String {
    if letter.is_alphanumeric() || letter == '_' {
        letter.to_string()
    } else {
        format!("\\u{{{:x}}}", u32::from(letter))
    }
}

/// Nulls rank last; polars leaves them without a rank.
fn ranked(function: &Function, name: &str) -> Result<Expr, Error> {
    let Some(WindowType::WindowSpec(window)) = &function.over else {
        return Err(unsupported("a rank without OVER (ORDER BY ...)"));
    };
    let [by] = &window.order_by[..] else {
        return Err(unsupported("ranks by several columns").hint("Rank by one, or number the rows: row_number()."));
    };
    let partition = window.partition_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let over = if partition.is_empty() { "OVER ()".to_string() } else { format!("OVER (PARTITION BY {partition})") };
    let counted = if name == "rank" { format!("count({})", by.expr) } else { format!("count(DISTINCT {})", by.expr) };
    Ok(parsed(&format!("coalesce(CAST({function} AS BIGINT), CAST({counted} {over} AS BIGINT) + 1)")))
}

/// Whether a value has no part behind the point, whatever its type.
fn is_integral(expr: &Expr) -> bool {
    match expr {
        Expr::Floor { .. } | Expr::Ceil { .. } => true,
        Expr::Nested(inner) => is_integral(inner),
        Expr::Function(function) => {
            ["floor", "ceil", "ceiling", "trunc"].contains(&function.name.to_string().to_lowercase().as_str())
        }
        _ => false,
    }
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) => true,
        Expr::Nested(expr) | Expr::UnaryOp { expr, .. } => is_literal(expr),
        _ => false,
    }
}

/// Half away from zero: `trunc(x) + CASE WHEN abs(x - trunc(x)) >= 0.5 THEN sign(x) ELSE 0 END`.
fn rounded(value: Expr) -> Expr {
    let whole = || call("trunc", [value.clone()]);
    let rest = call("abs", [binary(nested(value.clone()), BinaryOperator::Minus, whole())]);
    let up = case(binary(rest, BinaryOperator::GtEq, number("0.5")), call("sign", [value.clone()]), number("0"));
    nested(binary(whole(), BinaryOperator::Plus, up))
}

/// As DuckDB does: scaled, rounded and scaled back.
fn rounded_to(value: Expr, digits: &Expr) -> Result<Expr, Error> {
    let text = digits.to_string();
    let digits = text.parse::<i32>().ok().filter(|digits| (-18..=18).contains(digits));
    let Some(digits) = digits else {
        return Err(unsupported("ROUND to a number of digits that is not written out").hint("Write ROUND(x, 2)."));
    };
    let scale = number(&format!("1{}.0", "0".repeat(digits.unsigned_abs() as usize)));
    let (there, back) = if digits < 0 {
        (BinaryOperator::Divide, BinaryOperator::Multiply)
    } else {
        (BinaryOperator::Multiply, BinaryOperator::Divide)
    };
    Ok(nested(binary(rounded(nested(binary(nested(value), there, scale.clone()))), back, scale)))
}

/// With the sign of the dividend.
fn remainder(left: Expr, right: Expr) -> Expr {
    let floor = || nested(binary(nested(left.clone()), BinaryOperator::Modulo, nested(right.clone())));
    let less = binary(floor(), BinaryOperator::Minus, nested(right.clone()));
    nested(case(differs(floor(), &left, &right), less, floor()))
}

/// Towards zero.
fn quotient(left: Expr, right: Expr) -> Expr {
    let floor = || nested(binary(nested(left.clone()), BinaryOperator::DuckIntegerDivide, nested(right.clone())));
    let rest = nested(binary(nested(left.clone()), BinaryOperator::Modulo, nested(right.clone())));
    let more = binary(floor(), BinaryOperator::Plus, number("1"));
    nested(case(differs(rest, &left, &right), more, floor()))
}

/// Whether there is a rest and the operands have different signs.
fn differs(rest: Expr, left: &Expr, right: &Expr) -> Expr {
    let negative = |value: &Expr| nested(binary(nested(value.clone()), BinaryOperator::Lt, number("0")));
    let signs = binary(negative(left), BinaryOperator::NotEq, negative(right));
    binary(binary(rest, BinaryOperator::NotEq, number("0")), BinaryOperator::And, signs)
}

fn unsupported(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("the SQL engine lacks {what}"))
}

fn nested(expr: Expr) -> Expr {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Nested(_) | Expr::Function(_) => {
            expr
        }
        expr => Expr::Nested(Box::new(expr)),
    }
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn number(digits: &str) -> Expr {
    Expr::Value(Value::Number(digits.to_string(), false).into())
}

fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

/// Parsed from text: the tree of a call has many parts that are empty.
fn call<const N: usize>(name: &str, arguments: [Expr; N]) -> Expr {
    let text = format!("{name}({})", arguments.map(|it| it.to_string()).join(", "));
    parsed(&text)
}

fn case(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    parsed(&format!("CASE WHEN {condition} THEN {then} ELSE {otherwise} END"))
}

fn parsed(text: &str) -> Expr {
    let dialect = GenericDialect;
    let parsed = Parser::new(&dialect).try_with_sql(text).and_then(|mut parser| parser.parse_expr());
    // What was printed from a tree is read as that tree.
    parsed.unwrap_or_else(|_| Expr::Identifier(Ident::new(text)))
}

fn arguments_mut(function: &mut Function) -> Vec<&mut Expr> {
    let FunctionArguments::List(list) = &mut function.args else { return Vec::new() };
    let plain = list.args.iter_mut().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    plain.collect()
}

fn replace_first(function: &mut Function, value: Expr) {
    if let FunctionArguments::List(list) = &mut function.args
        && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = list.args.first_mut()
    {
        *first = value;
    }
}
