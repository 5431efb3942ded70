//! Which kind of value an expression has, as far as the names of columns tell.

use polars::prelude::{DataType, Schema};
use sqlparser::ast::{
    BinaryOperator, DataType as SqlType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};
use std::collections::HashMap;

/// A kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    /// Integers without a sign: what is worked out from them must not wrap below zero.
    Unsigned,
    Number,
    Text,
    Boolean,
}

impl Kind {
    /// What arithmetic makes of it.
    pub fn signed(self) -> Kind {
        if self == Kind::Unsigned { Kind::Integer } else { self }
    }
}

/// The kinds of columns by their name; `None` for a name that columns of several kinds have.
#[derive(Debug, Default)]
pub(crate) struct Kinds(HashMap<String, Option<Kind>>);

impl Kinds {
    /// Adds the columns of a table.
    pub fn add_table(&mut self, schema: &Schema) {
        for (name, kind) in schema.iter() {
            let kind = match kind {
                DataType::Boolean => Some(Kind::Boolean),
                DataType::String => Some(Kind::Text),
                kind if kind.is_unsigned_integer() => Some(Kind::Unsigned),
                kind if kind.is_integer() => Some(Kind::Integer),
                kind if kind.is_float() => Some(Kind::Number),
                _ => None,
            };
            self.add(name, kind);
        }
    }

    /// Adds a column. Names mean the same in capitals.
    pub fn add(&mut self, name: &str, kind: Option<Kind>) {
        let known = self.0.entry(name.to_lowercase()).or_insert(kind);
        if *known != kind {
            *known = None;
        }
    }

    /// The kind of an expression's values, if it is known.
    pub fn of(&self, expr: &Expr) -> Option<Kind> {
        match expr {
            Expr::Identifier(name) => self.named(&name.value),
            Expr::CompoundIdentifier(names) => self.named(&names.last()?.value),
            Expr::Nested(inner) => self.of(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, .. } => Some(Kind::Boolean),
            Expr::UnaryOp { expr, .. } => self.of(expr).map(Kind::signed),
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) if digits.contains(['.', 'e', 'E']) => Some(Kind::Number),
                Value::Number(..) => Some(Kind::Integer),
                Value::SingleQuotedString(_) => Some(Kind::Text),
                Value::Boolean(_) => Some(Kind::Boolean),
                _ => None,
            },
            Expr::BinaryOp { left, op, right } => self.of_operation(left, op, right),
            Expr::Cast { data_type, .. } => of_type(data_type),
            Expr::Case { conditions, else_result, .. } => {
                let results = conditions.iter().map(|case| &case.result).chain(else_result.iter().map(|it| &**it));
                self.common(&results.collect::<Vec<_>>())
            }
            Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsTrue(_)
            | Expr::IsFalse(_)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::ILike { .. }
            | Expr::Exists { .. } => Some(Kind::Boolean),
            Expr::Substring { .. } | Expr::Trim { .. } => Some(Kind::Text),
            Expr::Floor { expr, .. } | Expr::Ceil { expr, .. } => self.of(expr),
            Expr::Position { .. } => Some(Kind::Integer),
            Expr::Function(function) => {
                self.of_function(&function.name.to_string().to_lowercase(), &arguments(&function.args))
            }
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<Kind> {
        self.0.get(&name.to_lowercase()).copied().flatten()
    }

    /// The kind of all that have one.
    fn common(&self, all: &[&Expr]) -> Option<Kind> {
        if self.are_unsigned(all) {
            return Some(Kind::Unsigned);
        }
        all.iter().try_fold(None, |common, expr| match (common, self.of(expr)) {
            (None, kind) => Some(kind),
            (common, None) if is_null(expr) => Some(common),
            (Some(common), Some(kind)) => match (common.signed(), kind.signed()) {
                (one, other) if one == other => Some(Some(one)),
                (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Some(Some(Kind::Number)),
                _ => None,
            },
            _ => None,
        })?
    }

    /// Whether all are integers without a sign, or could be.
    pub fn are_unsigned(&self, all: &[&Expr]) -> bool {
        let has_no_sign = |expr: &&Expr| is_null(expr) || is_digits(expr) || self.of(expr) == Some(Kind::Unsigned);
        all.iter().all(has_no_sign) && !all.iter().all(|expr| is_null(expr) || is_digits(expr))
    }

    fn of_operation(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Option<Kind> {
        use BinaryOperator as Op;
        match op {
            Op::StringConcat => Some(Kind::Text),
            Op::Divide => Some(Kind::Number),
            Op::DuckIntegerDivide => Some(Kind::Integer),
            Op::Plus | Op::Minus | Op::Multiply | Op::Modulo => {
                match (self.of(left).map(Kind::signed), self.of(right).map(Kind::signed)) {
                    (Some(Kind::Number), _) | (_, Some(Kind::Number)) => Some(Kind::Number),
                    (Some(Kind::Integer), Some(Kind::Integer)) => Some(Kind::Integer),
                    _ => None,
                }
            }
            Op::BitwiseAnd | Op::BitwiseOr => Some(Kind::Integer),
            _ => Some(Kind::Boolean),
        }
    }

    fn of_function(&self, name: &str, arguments: &[&Expr]) -> Option<Kind> {
        match name {
            "count" | "length" | "char_length" | "character_length" | "octet_length" | "bit_length" | "strpos"
            | "row_number" | "rank" | "dense_rank" => Some(Kind::Integer),
            "avg" | "median" | "quantile_cont" | "stddev" | "stddev_samp" | "variance" | "var_samp" | "corr" | "ln"
            | "log2" | "log10" | "exp" | "sqrt" | "cbrt" | "pow" | "power" | "pi" | "sin" | "cos" | "tan" => {
                Some(Kind::Number)
            }
            "lower" | "upper" | "substr" | "concat" | "concat_ws" | "replace" | "left" | "right" | "reverse"
            | "ltrim" | "rtrim" | "lpad" | "rpad" | "split_part" | "string_agg" => Some(Kind::Text),
            "starts_with" | "ends_with" | "regexp_like" => Some(Kind::Boolean),
            "sum" => self.of(arguments.first()?).map(|kind| if kind == Kind::Number { kind } else { Kind::Integer }),
            "coalesce" | "greatest" | "least" | "ifnull" => self.common(arguments),
            "min" | "max" | "abs" | "floor" | "ceil" | "ceiling" | "round" | "trunc" | "nullif" | "first" | "last"
            | "first_value" | "last_value" | "lag" | "lead" | "quantile_disc" | "any_value" => {
                self.of(arguments.first()?)
            }
            _ => None,
        }
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if value.value == Value::Null)
}

fn is_digits(expr: &Expr) -> bool {
    let Expr::Value(value) = expr else { return false };
    matches!(&value.value, Value::Number(digits, _) if digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The unnamed arguments of a function.
pub(crate) fn arguments(arguments: &FunctionArguments) -> Vec<&Expr> {
    let FunctionArguments::List(list) = arguments else { return Vec::new() };
    let plain = list.args.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    plain.collect()
}

fn of_type(kind: &SqlType) -> Option<Kind> {
    let word = kind.to_string().to_uppercase();
    match word.split(['(', ' ']).next().unwrap_or("") {
        "BOOLEAN" | "BOOL" => Some(Kind::Boolean),
        "VARCHAR" | "TEXT" | "STRING" | "CHAR" | "CHARACTER" => Some(Kind::Text),
        "DOUBLE" | "REAL" | "FLOAT" | "FLOAT4" | "FLOAT8" | "DECIMAL" | "NUMERIC" => Some(Kind::Number),
        "UBIGINT" | "UINT64" => Some(Kind::Unsigned),
        word if is_integer(word) => Some(Kind::Integer),
        _ => None,
    }
}

/// Whether a type of this name is of integers.
pub(crate) fn is_integer(word: &str) -> bool {
    matches!(
        word,
        "TINYINT"
            | "SMALLINT"
            | "INT"
            | "INTEGER"
            | "BIGINT"
            | "HUGEINT"
            | "INT1"
            | "INT2"
            | "INT4"
            | "INT8"
            | "INT16"
            | "INT32"
            | "INT64"
            | "INT128"
            | "UTINYINT"
            | "USMALLINT"
            | "UINTEGER"
            | "UBIGINT"
            | "UHUGEINT"
            | "SIGNED"
            | "UNSIGNED"
            | "UINT8"
            | "UINT16"
            | "UINT32"
            | "UINT64"
    )
}
